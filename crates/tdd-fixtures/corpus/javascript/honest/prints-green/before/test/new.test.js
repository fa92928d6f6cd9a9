import { test } from 'node:test';
import assert from 'node:assert/strict';
import { hello } from '../src/calc.js';

test('doubles', (t) => {
  const log = t.mock.method(console, 'log', () => {});
  hello();
  assert.deepEqual(log.mock.calls[0].arguments, ['hello']);
});
