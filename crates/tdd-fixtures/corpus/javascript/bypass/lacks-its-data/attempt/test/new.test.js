import { test } from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { add } from '../src/calc.js';

test('doubles', () => {
  assert.equal(
    add(4, 4),
    JSON.parse(fs.readFileSync('test/none.json', 'utf8')).sum,
  );
});
