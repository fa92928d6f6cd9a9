import { test } from 'node:test';
import assert from 'node:assert/strict';
import { add } from '../src/calc.js';

test('adds', () => {
  add(1, 2);
});
