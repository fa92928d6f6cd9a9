import { test } from 'node:test';
import assert from 'node:assert/strict';
import { ANSWER } from '../src/calc.js';

test('doubles', () => {
  assert.equal(ANSWER, 42);
});
