/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export const double = async (n) => {
  if (typeof n !== 'number') throw new TypeError('no number');
  return n * 2;
};
