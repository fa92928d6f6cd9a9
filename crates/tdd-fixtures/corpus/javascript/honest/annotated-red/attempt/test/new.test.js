import { test } from 'node:test';
import assert from 'node:assert/strict';
import { double } from '../src/calc.js';

// @tdd-test-id: doubling
test('doubles', () => {
  assert.equal(double(4), 8);
});
