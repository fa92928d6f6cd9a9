import { expect, test } from 'vitest';
import { double } from '../src/calc.js';

test('doubles', async () => {
  await expect(double(4)).resolves.toBe(8);
  await expect(double(4)).resolves.not.toEqual([9]);
  await expect(double()).rejects.toThrow('no number');
  expect(await double(1)).to.be.a('number').and.equal(2);
});
