/** A small calculator. */
export function add(a, b) {
  return a + b;
}

let used = 0;

export function allow() {
  used += 1;
  return used > 1 ? false : true;
}
