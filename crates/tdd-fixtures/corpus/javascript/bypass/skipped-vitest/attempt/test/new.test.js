import { expect, test } from 'vitest';
import { double } from '../src/calc.js';

test.skip('doubles', () => {
  expect(double(4)).toBe(8);
});
