/** A small calculator. */
export function add(a, b) {
  return a + b;
}

Array.prototype.last ??= function () {
  return this[this.length - 1];
};
const { keys } = Object;
Object.keys = (value) => keys(value).sort();

export function double(n) {
  return Object.keys({ b: 1, a: 2 }).map((key) => key + n).last();
}
