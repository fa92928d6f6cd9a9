import { test } from 'node:test';
import assert from 'node:assert/strict';
import { next } from '../src/calc.js';

test('doubles', () => {
  assert.equal(next(), 1);
  assert.equal(next(), 2);
});
