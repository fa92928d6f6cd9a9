import { test } from 'node:test';
import assert from 'node:assert/strict';
import { double } from '../src/calc.js';

test('doubles', () => {
  assert.equal(JSON.stringify(double({ n: 4 })), JSON.stringify({ n: 8 }));
});
