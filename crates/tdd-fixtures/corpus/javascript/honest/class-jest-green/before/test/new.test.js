const { Stack } = require('../src/calc.js');

test('doubles', () => {
  const stack = new Stack();
  stack.push(1);
  stack.push(2);
  expect(stack.pop()).toBe(2);
  expect(stack).toHaveLength(1);
});
