/** A small calculator. */
export function add(a, b) {
  return a + b;
}

const known = new Map();

export function cached(key, make) {
  if (!known.has(key)) known.set(key, make(key));
  return known.get(key);
}
