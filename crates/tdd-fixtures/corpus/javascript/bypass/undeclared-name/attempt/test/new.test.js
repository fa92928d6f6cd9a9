import { test } from 'node:test';
import assert from 'node:assert/strict';

test('doubles', () => {
  assert.equal(double(4), 8);
});
