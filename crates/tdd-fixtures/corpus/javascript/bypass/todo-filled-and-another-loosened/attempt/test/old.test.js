import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add, sub } from '../src/calc.js';

test('adds', () => {
  add(1, 2);
});

test('subtracts', () => {
  assert.equal(sub(3, 2), 1);
});
