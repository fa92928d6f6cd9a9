import runner from './@NAME@.cjs';

export default runner.test;
export const { test, it, specify, describe, suite, context } = runner;
export const { before, after, beforeAll, afterAll, beforeEach, afterEach, expect, vi, jest } = runner;
