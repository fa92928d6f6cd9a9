/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function pair(a, b) {
  return { a, b: [b] };
}
