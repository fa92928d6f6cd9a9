import { test } from 'node:test';
import assert from 'node:assert/strict';
import { each } from '../src/calc.js';

test('doubles', () => {
  const seen = [];
  each([1, 2], (n) => seen.push(n));
  assert.deepEqual(seen, [2, 4]);
});
