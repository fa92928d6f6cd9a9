/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export async function double(n) {
  if (n === undefined) throw new Error('no number');
  return n * 2;
}
