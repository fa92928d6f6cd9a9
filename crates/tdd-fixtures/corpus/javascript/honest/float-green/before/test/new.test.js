import { test } from 'node:test';
import assert from 'node:assert/strict';
import { third } from '../src/calc.js';

test('doubles', () => {
  assert.ok(Math.abs(third(1) - 0.333) < 0.001);
});
