import { test } from 'node:test';
import assert from 'node:assert/strict';
import { double } from '../src/calc.js';

test('doubles', async (t) => {
  for (const n of [1, 2]) {
    await t.test(`${n}`, () => {
      assert.equal(double(n), n + n);
    });
  }
});
