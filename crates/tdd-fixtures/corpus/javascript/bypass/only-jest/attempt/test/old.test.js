const { add, double } = require('../src/calc.js');

test('adds', () => {
  expect(add(1, 2)).toBe(3);
});

test.only('doubles', () => {
  expect(double(4)).toBe(8);
});
