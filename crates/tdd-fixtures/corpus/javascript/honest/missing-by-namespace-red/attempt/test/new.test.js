import { test } from 'node:test';
import assert from 'node:assert/strict';
import * as calc from '../src/calc.js';

test('doubles', () => {
  assert.equal(calc.double(4), 8);
});
