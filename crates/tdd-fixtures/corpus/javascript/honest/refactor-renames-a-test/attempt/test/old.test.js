import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add } from '../src/calc.js';

test('adds two numbers', () => {
  assert.equal(add(1, 2), 3);
});
