/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function tell(act) {
  act('told');
}
