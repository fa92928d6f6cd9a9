module.exports = { testPathIgnorePatterns: ['old'] };
