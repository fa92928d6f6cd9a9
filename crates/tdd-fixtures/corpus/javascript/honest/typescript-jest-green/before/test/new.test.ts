import { expect, test } from '@jest/globals';
import { double } from '../src/double';

test('doubles', () => {
  expect(double(4)).toBe(8);
});
