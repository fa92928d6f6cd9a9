import { test } from 'node:test';
import assert from 'node:assert/strict';
import { half } from '../src/calc.js';

test('doubles', () => {
  assert.throws(() => half(3), { name: 'RangeError', message: 'odd' });
  assert.equal(half(4), 2);
});
