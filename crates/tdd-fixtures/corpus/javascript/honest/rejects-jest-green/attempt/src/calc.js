exports.add = (a, b) => a + b;

exports.double = async (n) => {
  if (typeof n !== 'number') throw new TypeError('no number');
  return n * 2;
};
