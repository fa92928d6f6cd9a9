/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export const double = (n) => n * 2;
