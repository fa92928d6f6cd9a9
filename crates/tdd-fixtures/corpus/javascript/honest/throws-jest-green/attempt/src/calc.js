exports.add = (a, b) => a + b;
exports.half = (n) => {
  if (n % 2 !== 0) {
    throw new RangeError('odd');
  }
  return n / 2;
};
