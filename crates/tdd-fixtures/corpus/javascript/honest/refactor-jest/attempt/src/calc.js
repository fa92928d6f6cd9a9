exports.add = (a, b) => b + a;
