'use strict';
// The names of a test runner, and nothing else of it.
const guard = require('./@NAME@g.cjs');
const scope = (outer) => ({ outer, before: [], after: [], beforeEach: [], afterEach: [], begun: false });
const found = [];
let at = scope(null);
const define = (title, call, skipped) => found.push({ title: String(title), call, skipped, scope: at });
const body = (rest) => rest.filter((one) => typeof one === 'function').pop();
const rows = (table) => {
  if (!Array.isArray(table) || table.raw) throw new TypeError('only lists of rows are known');
  return table.map((row) => (Array.isArray(row) ? row : [row]));
};
const hook = (kind) => (...rest) => void at[kind].push(body(rest));
const context = (title) => ({
  name: title,
  expect: exports.expect,
  diagnostic() {},
  test: async (inner, ...rest) => void (await body(rest)(context(inner))),
});
const skipped = (title) => define(title, null, true);
function test(title, ...rest) {
  const run = body(rest);
  const options = rest.find((one) => one !== null && typeof one === 'object') ?? {};
  // Nobody would call a `done`.
  if (run && run.length > (exports.jest ? 0 : 1)) throw new TypeError('a test with a callback');
  define(title, run && (() => run(context(title))), !run || Boolean(options.skip || options.todo));
}
function describe(title, ...rest) {
  at = scope(at);
  try {
    body(rest)();
  } finally {
    at = at.outer;
  }
}
Object.assign(test, { only: test, concurrent: test, sequential: test, skip: skipped, todo: skipped });
test.each = (table) => (title, run) => rows(table).forEach((row) => define(title, () => run(...row), false));
Object.assign(describe, { only: describe, concurrent: describe, sequential: describe, skip() {}, todo() {} });
describe.each = (table) => (title, run) => rows(table).forEach((row) => describe(title, () => run(...row)));
Object.assign(exports, { test, it: test, specify: test, describe, suite: describe, context: describe });
Object.assign(exports, { before: hook('before'), beforeAll: hook('before'), after: hook('after'), afterAll: hook('after') });
Object.assign(exports, { beforeEach: hook('beforeEach'), afterEach: hook('afterEach') });
const isAssertion = (error) => error?.code === 'ERR_ASSERTION' || error?.name === 'AssertionError' || error?.matcherResult !== undefined;
/** Whether production, not the test, misses a file that is there only below its runner. */
const isMissing = (error) => {
  const home = require('node:path').dirname(process.argv[1]) + '/';
  const frame = String(error?.stack).split('\n').find((line) => line.trimStart().startsWith('at ') && line.includes(home));
  return error?.syscall !== undefined && frame !== undefined && !frame.includes(require('node:path').basename(__filename, '.cjs'));
};
/** Whether production, not the test, looks for test code, which is there only below its runner. */
exports.wantsTests = (error) => {
  const isTest = /[.\-_](test|spec)\.\w+\b|(^|\/)(tests?|__tests__|specs?)(\/|$)/;
  const own = require('node:path').basename(__filename, '.cjs');
  const [, module, importer] = /^Cannot find module '([^']*)' imported from (\S+)/.exec(String(error?.message)) ?? [];
  if (module) return isTest.test(module) && !importer.includes(own);
  return isMissing(error) && isTest.test(String(error.path));
};
/** Runs the tests with this title, and gives a word for what became of them. */
exports.run = async (title) => {
  const wanted = found.filter((one) => one.title === title);
  if (!wanted.length || wanted.some((one) => one.skipped)) return 'skip';
  guard.isRigged = false;
  try {
    for (const { scope: own, call } of wanted) {
      const scopes = [];
      for (let one = own; one; one = one.outer) scopes.unshift(one);
      for (const one of scopes) for (const run of one.begun ? [] : ((one.begun = true), one.before)) await run();
      for (const one of scopes) for (const run of one.beforeEach) await run();
      await call();
      for (const one of scopes.reverse()) for (const run of one.afterEach) await run();
    }
    return 'pass';
  } catch (error) {
    console.error(error);
    if (isAssertion(error) && guard.isRigged) return 'rigged';
    return isAssertion(error) || isMissing(error) ? 'fail' : 'error';
  }
};
