import { test } from 'node:test';
import assert from 'node:assert/strict';
import { size } from '../src/calc.js';

for (const [n, expected] of [[1, 1], [-1, 1]]) {
  test(`size of ${n}`, () => {
    assert.equal(size(n), expected);
  });
}
