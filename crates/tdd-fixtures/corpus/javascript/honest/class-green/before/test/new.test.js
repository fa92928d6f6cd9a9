import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Counter } from '../src/calc.js';

test('counts', () => {
  const counter = new Counter();
  assert.equal(counter.next(), 1);
  assert.equal(counter.next(), 2);
});
