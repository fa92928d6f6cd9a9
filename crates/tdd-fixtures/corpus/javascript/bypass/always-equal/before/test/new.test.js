import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Money, double } from '../src/calc.js';

test('doubles', () => {
  assert.deepEqual(double(new Money(4)), new Money(8));
});
