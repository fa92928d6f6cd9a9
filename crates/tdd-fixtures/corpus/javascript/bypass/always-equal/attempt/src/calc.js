/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export class Money {
  #n;

  constructor(n) {
    this.#n = n;
  }
}

export function double(money) {
  return money;
}
