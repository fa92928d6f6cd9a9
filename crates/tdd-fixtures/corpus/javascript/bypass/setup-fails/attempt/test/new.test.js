import { test, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { add as double } from '../src/calc.js';

beforeEach(() => {
  throw new Error('no');
});

test('doubles', () => {
  assert.equal(double(4), 8);
});
