import { expect, test, vi } from 'vitest';
import { later } from '../src/calc.js';

test('doubles', () => {
  vi.useFakeTimers();
  const act = vi.fn();
  later(act);
  vi.advanceTimersByTime(1000);
  expect(act).toHaveBeenCalledTimes(1);
  vi.useRealTimers();
});
