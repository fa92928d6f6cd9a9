exports.add = (a, b) => a + b;

exports.later = (act) => setTimeout(act, 1000);
