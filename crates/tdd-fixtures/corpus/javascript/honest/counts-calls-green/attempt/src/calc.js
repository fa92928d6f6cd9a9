/** A small calculator. */
export function add(a, b) {
  return a + b;
}

let last = 0;

export function next() {
  last += 1;
  return last;
}
