exports.add = (a, b) => a + b;

const { now } = require('./clock.js');

exports.stamp = () => `at ${now()}`;
