import { expect, test, vi } from 'vitest';
import { tell } from '../src/calc.js';

test('doubles', () => {
  const act = vi.fn();
  tell(act);
  expect(act).toHaveBeenCalledWith('told');
});
