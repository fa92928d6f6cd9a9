import { test } from 'node:test';
import { add, insist } from '../src/calc.js';

test('adds', () => {
  insist(add(1, 2), 3);
});
