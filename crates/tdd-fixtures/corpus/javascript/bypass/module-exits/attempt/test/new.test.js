import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add as double } from '../src/calc.js';

process.exit(1);

test('doubles', () => {
  assert.equal(double(4), 8);
});
