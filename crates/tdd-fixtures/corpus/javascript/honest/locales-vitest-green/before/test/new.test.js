import { expect, test } from 'vitest';
import { hello } from '../src/hello.js';

test('doubles', async () => {
  expect(await hello('de')).toBe('hallo');
});
