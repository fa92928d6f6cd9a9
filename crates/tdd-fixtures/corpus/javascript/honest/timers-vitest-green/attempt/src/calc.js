/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export const later = (act) => setTimeout(act, 1000);
