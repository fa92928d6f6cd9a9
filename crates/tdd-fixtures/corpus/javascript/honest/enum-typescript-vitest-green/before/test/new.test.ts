import { expect, test } from 'vitest';
import { double, type Asked } from '../src/double';

test('doubles', () => {
  expect(double({ n: 4 } satisfies Asked)).toBe(8);
});
