import { test } from 'node:test';
import assert from 'node:assert/strict';
import { later } from '../src/calc.js';

test('doubles', async () => {
  assert.equal(await later(4), 8);
  await assert.rejects(later(4).then(() => Promise.reject(new Error('x'))));
});
