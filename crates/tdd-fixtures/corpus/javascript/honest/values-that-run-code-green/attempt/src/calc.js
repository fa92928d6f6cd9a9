/** A small calculator. */
export function add(a, b) {
  return a + b;
}

class Money {
  #cents;

  constructor(cents) {
    this.#cents = cents;
  }

  get cents() {
    return this.#cents;
  }

  valueOf() {
    return this.#cents;
  }
}

export function double(n) {
  return new Money(n * 2);
}

export function frozen(value) {
  return new Proxy(value, {
    set() {
      throw new TypeError('read only');
    },
  });
}
