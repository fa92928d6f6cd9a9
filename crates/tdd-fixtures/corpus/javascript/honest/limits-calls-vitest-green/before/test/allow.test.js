import { expect, test } from 'vitest';
import { allow } from '../src/calc.js';

test('allows one', () => {
  expect(allow()).toBe(true);
});
