/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function third(n) {
  return n / 3;
}
