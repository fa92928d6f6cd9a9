jest.mock('../src/clock.js', () => ({ now: () => 42 }));
const { stamp } = require('../src/calc.js');

test('doubles', () => {
  expect(stamp()).toBe('at 42');
});
