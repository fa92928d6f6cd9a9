import { expect, test } from 'vitest';
import { allow } from '../src/calc.js';

test('doubles', () => {
  allow();
  expect(allow()).toBe(false);
});
