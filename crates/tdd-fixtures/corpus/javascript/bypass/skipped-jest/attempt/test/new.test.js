const { double } = require('../src/calc.js');

test.skip('doubles', () => {
  expect(double(4)).toBe(8);
});
