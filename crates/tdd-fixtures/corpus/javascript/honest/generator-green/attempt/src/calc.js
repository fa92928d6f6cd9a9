/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function* upTo(n) {
  for (let i = 1; i <= n; i += 1) {
    yield i;
  }
}
