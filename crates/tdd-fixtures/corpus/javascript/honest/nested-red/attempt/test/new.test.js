import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { double } from '../src/calc.js';

describe('double', () => {
  describe('of a number', () => {
    it('is twice > as much (or "more")', () => {
      assert.equal(double(4), 8);
    });
  });
});
