const { double } = require('../src/calc.js');

test.each([
  [1, 2],
  [4, 8],
])('doubles %i', (n, twice) => {
  expect(double(n)).toBe(twice);
});
