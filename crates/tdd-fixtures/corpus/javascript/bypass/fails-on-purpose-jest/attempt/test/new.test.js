const { double } = require('../src/calc.js');

test.failing('doubles', () => {
  expect(double(4)).toBe(8);
});
