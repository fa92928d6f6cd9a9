/** A small calculator. */
export function add(a, b) {
  return b + a;
}
