/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export async function later(n) {
  return n * 2;
}
