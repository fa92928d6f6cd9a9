import { test } from 'node:test';
import assert from 'node:assert/strict';
import { double } from '../src/calc.js';

test('doubles', () => {
  double(4);
  assert.ok(true);
});
