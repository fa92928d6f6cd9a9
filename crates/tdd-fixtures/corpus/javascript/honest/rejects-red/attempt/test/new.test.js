import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add } from '../src/calc.js';

test('doubles', async () => {
  await assert.rejects(async () => add(), TypeError);
});
