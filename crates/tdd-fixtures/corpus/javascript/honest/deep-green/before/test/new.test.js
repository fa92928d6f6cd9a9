import { test } from 'node:test';
import assert from 'node:assert/strict';
import { pair } from '../src/calc.js';

test('doubles', () => {
  assert.deepEqual(pair(1, 2), { a: 1, b: [2] });
});
