import { test } from 'node:test';
import assert from 'node:assert/strict';
import { double } from '../src/calc.js';

test('doubles', () => {
  const later = () => assert.equal(double(4), 8);
});
