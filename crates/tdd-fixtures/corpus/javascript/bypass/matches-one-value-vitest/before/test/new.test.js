import { expect, test } from 'vitest';
import { double } from '../src/calc.js';

test('doubles', () => {
  expect(double(4)).toEqual(8);
});
