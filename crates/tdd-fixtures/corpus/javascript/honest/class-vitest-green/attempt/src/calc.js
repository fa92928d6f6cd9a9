/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export const Stack = class Stack {
  #items = [];
  push(item) {
    this.#items.push(item);
  }
  pop() {
    return this.#items.pop();
  }
  get length() {
    return this.#items.length;
  }
};
