import { expect, test } from 'vitest';
import { double } from '../src/calc.js';

test('doubles', () => {
  expect(double(4)).toBe('b4');
  expect({ b: 1, a: 2 }).toEqual({ a: 2, b: 1 });
});
