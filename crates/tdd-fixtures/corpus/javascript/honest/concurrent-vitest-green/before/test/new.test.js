import { expect, test } from 'vitest';
import { double } from '../src/calc.js';

test.concurrent('doubles', async () => {
  expect(await double(4)).toBe(8);
});
