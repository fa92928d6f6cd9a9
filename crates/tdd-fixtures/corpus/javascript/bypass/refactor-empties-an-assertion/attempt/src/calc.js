/** A small calculator. */
export function add(a, b) {
  return a + b;
}

/** Insists on the same values. */
export function insist(actual, expected) {
  return [actual, expected].length === 2;
}
