const { double } = require('../src/calc.js');

test('doubles', async () => {
  await expect(double('x')).rejects.toThrow(TypeError);
  await expect(double(4)).resolves.toBe(8);
});
