import { expect, test } from 'vitest';
import { double } from '../src/calc.js';

test.each([
  [1, 2],
  [4, 8],
])('doubles %i to %i', (n, twice) => {
  expect(double(n)).toBe(twice);
});
