import { test } from 'node:test';
import assert from 'node:assert/strict';
import '../src/text.js';

test('doubles', () => {
  assert.equal('abc'.capitalize(), 'Abc');
  assert.throws(() => ''.capitalize(), RangeError);
});
