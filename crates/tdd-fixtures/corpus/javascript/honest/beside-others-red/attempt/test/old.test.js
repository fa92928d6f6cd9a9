import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add, double } from '../src/calc.js';

test('adds', () => {
  assert.equal(add(1, 2), 3);
});

test('doubles', () => {
  assert.equal(double(4), 8);
});
