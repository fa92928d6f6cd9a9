export default { test: { exclude: ['test/old.test.js'] } };
