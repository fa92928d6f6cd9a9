import { test } from 'node:test';
import assert from 'node:assert/strict';
import { size } from '../src/calc.js';

const cases = [
  [1, 1],
];

test('size', () => {
  for (const [n, expected] of cases) {
    assert.equal(size(n), expected);
  }
});
