const { later } = require('../src/calc.js');

test('doubles', () => {
  jest.useFakeTimers();
  const act = jest.fn();
  later(act);
  jest.advanceTimersByTime(1000);
  expect(act).toHaveBeenCalledTimes(1);
  jest.useRealTimers();
});
