import { now } from './clock.js';

/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export const stamp = () => `at ${now()}`;
