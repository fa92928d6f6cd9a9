import { expect, test, vi } from 'vitest';
import { cached } from '../src/calc.js';

test('doubles', () => {
  const make = vi.fn((key) => ({ key }));
  expect(cached('a', make)).toEqual({ key: 'a' });
  expect(cached('a', make)).toBe(cached('a', make));
  expect(make).toHaveBeenCalledTimes(1);
});
