/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function hello() {
  console.log('hello');
}
