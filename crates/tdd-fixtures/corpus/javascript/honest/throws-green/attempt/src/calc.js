/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function half(n) {
  if (n % 2 !== 0) {
    throw new RangeError('odd');
  }
  return n / 2;
}
