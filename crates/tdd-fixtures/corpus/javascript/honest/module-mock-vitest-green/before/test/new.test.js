import { expect, test, vi } from 'vitest';
import { stamp } from '../src/calc.js';

vi.mock('../src/clock.js', () => ({ now: () => 42 }));

test('doubles', () => {
  expect(stamp()).toBe('at 42');
});
