import { test } from 'node:test';
import assert from 'node:assert/strict';
import { double } from '../src/calc.js';

for (const [n, twice] of [[1, 2], [4, 8]]) {
  test(`doubles ${n}`, () => {
    assert.equal(double(n), twice);
  });
}
