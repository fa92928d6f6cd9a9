exports.add = (a, b) => a + b;

exports.Stack = class Stack {
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
