import { test } from 'node:test';
import assert from 'node:assert/strict';
import { four } from './numbers.js';
import { double } from '../src/calc.js';

test('doubles', () => {
  assert.equal(double(four), 8);
});
