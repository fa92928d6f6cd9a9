import { beforeEach, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Stack } from '../src/calc.js';

describe('a stack', () => {
  let stack;

  beforeEach(() => {
    stack = new Stack();
  });

  it('gives back what was put on it', () => {
    stack.push(7);
    assert.equal(stack.pop(), 7);
  });
});
