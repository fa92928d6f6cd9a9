const { half } = require('../src/calc.js');

test('doubles', () => {
  expect(() => half(3)).toThrow('odd');
  expect(half(4)).toEqual(2);
});
