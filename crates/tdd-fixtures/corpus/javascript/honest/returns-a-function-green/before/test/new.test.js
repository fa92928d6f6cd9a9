import { test } from 'node:test';
import assert from 'node:assert/strict';
import { times } from '../src/calc.js';

test('doubles', () => {
  const twice = times(2);
  assert.equal(twice(4), 8);
});
