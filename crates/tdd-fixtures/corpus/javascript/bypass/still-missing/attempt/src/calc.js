/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function twice(n) {
  return n * 2;
}
