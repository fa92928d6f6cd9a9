export default { test: { setupFiles: ['vitest.setup.js'] } };
