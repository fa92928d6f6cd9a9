import { test } from 'node:test';
import { help } from './helper.js';
import assert from 'node:assert/strict';
import { double } from '../src/calc.js';

test('doubles', () => {
  assert.equal(double(4), 8);
});
