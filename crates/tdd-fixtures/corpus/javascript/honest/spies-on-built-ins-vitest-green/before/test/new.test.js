import { expect, test, vi } from 'vitest';
import { double } from '../src/calc.js';

test('doubles', () => {
  const log = vi.fn();
  const parse = vi.spyOn(JSON, 'parse');
  expect(double('4', log)).toBe(8);
  expect(log.mock.calls).toEqual([['4']]);
  expect(parse).toHaveBeenCalledTimes(1);
  parse.mockRestore();
});
