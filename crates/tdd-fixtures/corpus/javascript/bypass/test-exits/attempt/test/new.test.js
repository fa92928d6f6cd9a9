import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add as double } from '../src/calc.js';

test('doubles', () => {
  process.exit(1);
  assert.equal(double(4), 8);
});
