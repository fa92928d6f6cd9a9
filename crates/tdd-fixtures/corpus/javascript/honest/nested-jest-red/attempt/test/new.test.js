const { double } = require('../src/calc.js');

describe('numbers', () => {
  describe('whole', () => {
    test('doubles', () => {
      expect(double(4)).toBe(8);
    });
  });
});
