export default { test: { setupFiles: ['src/prepare.js'] } };
