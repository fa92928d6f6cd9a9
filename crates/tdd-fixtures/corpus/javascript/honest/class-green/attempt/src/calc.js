/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export class Counter {
  #n = 0;

  next() {
    this.#n += 1;
    return this.#n;
  }
}
