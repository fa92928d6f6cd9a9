import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as calc from '../src/calc.js';

test('doubles', () => {
  calc.write('numbers.txt', [1, 2]);
  assert.equal(readFileSync('numbers.txt', 'utf8'), '1 2');
});
