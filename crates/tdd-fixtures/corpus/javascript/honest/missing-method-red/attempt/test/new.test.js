import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Counter } from '../src/calc.js';

test('doubles', () => {
  assert.equal(new Counter().next(), 1);
});
