/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function times(n) {
  return (m) => n * m;
}
