/** A small calculator. */
export function add(a, b) {
  return a + b;
}

/** Insists on the same values. */
export function insist(actual, expected) {
  if (actual !== expected) throw new Error(`${actual} is not ${expected}`);
  return true;
}
