import { test } from 'node:test';
import assert from 'node:assert/strict';
import { upTo } from '../src/calc.js';

test('doubles', () => {
  assert.deepEqual([...upTo(3)], [1, 2, 3]);
});
