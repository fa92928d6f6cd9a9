import { test } from 'node:test';
import assert from 'node:assert';
import { double, frozen } from '../src/calc.js';

test('doubles', () => {
  assert.equal(double(4), 8);
  assert.strictEqual(double(4).cents, 8);
  assert.deepStrictEqual(frozen({ a: [1] }), { a: [1] });
  assert.throws(() => {
    frozen({}).a = 1;
  }, /read only/);
});
