/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function double(text, log) {
  log(text);
  return JSON.parse(text) * 2;
}
