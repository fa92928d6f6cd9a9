exports.add = (a, b) => a + b;

exports.double = () => {
  throw new RangeError('not yet');
};
