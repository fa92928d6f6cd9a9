import { test } from 'node:test';
import assert from 'node:assert/strict';
import { double } from '../src/double.js';

test('doubles', () => {
  assert.equal(double(4), 8);
});
