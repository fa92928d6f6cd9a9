const { double } = require('../src/calc.js');

test('doubles', () => {
  expect(double(4)).toMatchSnapshot();
});
