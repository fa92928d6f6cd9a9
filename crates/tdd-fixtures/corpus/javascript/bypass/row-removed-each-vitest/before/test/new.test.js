import { expect, test } from 'vitest';
import { size } from '../src/calc.js';

test.each([
  [1, 1],
  [2, 2],
])('size of %i is %i', (n, expected) => {
  expect(size(n)).toBe(expected);
});
