import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [name, first, bundler] = fs.readFileSync(0, 'utf8').split('\n');
const home = path.dirname(process.argv[1]);
const test = path.join(home, '@FOLDER@/@TEST@');
const text = fs.readFileSync(test);
const require = createRequire(import.meta.url);
const runner = require('@FOLDER@/@NAME@.cjs');
const { guardedExpect } = require('@FOLDER@/@NAME@g.cjs');
const { writeSync } = fs;
const exit = process.exit.bind(process);

function tell(word) {
  // Production may not run without what its bundler adds.
  if (word === 'error' && '@RUNNER@' === 'vitest' && !bundler) {
    fs.writeFileSync(test, text);
    const again = { input: [name, first, 'bundler', ''].join('\n'), stdio: ['pipe', 1, 2, 3] };
    exit(spawnSync(process.execPath, [process.argv[1]], again).status ?? 1);
  }
  writeSync(3, name + ' ' + word + '\n');
  exit(word === 'pass' ? 0 : 1);
}

/** A module that comes with another one, which the project has installed. */
async function module(name, from) {
  for (let at = fs.realpathSync(path.join(home, 'node_modules', from)); at !== path.dirname(at); at = path.dirname(at)) {
    const folder = path.join(at, 'node_modules', name);
    if (!fs.existsSync(folder)) continue;
    const { exports: told, main } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const own = told?.['.'] ?? told;
    const file = [own?.default, own?.import?.default, own?.import, own, main].find((one) => typeof one === 'string');
    return import(pathToFileURL(path.join(folder, file)).href);
  }
  throw new Error(name + ' is not installed');
}

const PROVIDED = {
  node() {},
  async vitest() {
    const told = await module('@vitest/expect', 'vitest');
    const chai = told.chai ?? (await module('chai', 'vitest'));
    const { fn, spyOn, isMockFunction, clearAllMocks, resetAllMocks, restoreAllMocks } = await module('@vitest/spy', 'vitest');
    [told.JestExtend, told.JestChaiExpect, told.JestAsymmetricMatchers].forEach((plugin) => chai.use(plugin));
    const expect = (value, message) => chai.expect(value, message);
    Object.assign(expect, chai.expect, globalThis[told.ASYMMETRIC_MATCHERS_OBJECT]);
    told.setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }, expect);
    globalThis[told.GLOBAL_EXPECT] = expect;
    expect.extend = (matchers) => chai.expect.extend(expect, matchers);
    const vi = { fn, spyOn, isMockFunction, clearAllMocks, resetAllMocks, restoreAllMocks };
    Object.assign(runner, { expect: guardedExpect(expect), vi });
  },
  async jest() {
    const { expect } = (await module('expect', 'jest')).default;
    const { ModuleMocker } = (await module('jest-mock', 'jest')).default;
    const mocker = new ModuleMocker(globalThis);
    const jest = { fn: mocker.fn.bind(mocker), spyOn: mocker.spyOn.bind(mocker) };
    Object.assign(runner, { expect: guardedExpect(expect), jest });
  },
};

/** The files that vite's patterns mean: texts, or functions that import them. */
const glob = (from) => (patterns, options = {}) => {
  const isRaw = options.as === 'raw' || /raw/.test(options.query ?? '');
  if (options.eager && !isRaw) throw new Error('modules that are imported at once are not known');
  const folder = path.dirname(fileURLToPath(from));
  const expression = (pattern) => {
    const whole = pattern.startsWith('/') ? path.join(home, pattern) : path.resolve(folder, pattern);
    const words = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '{': '(?:', '}': ')', ',': '|' };
    return new RegExp('^' + whole.replace(/\*\*\/|\*\*|\*|[{},]|[.+?^$()|[\]\\]/g, (part) => words[part] ?? '\\' + part) + '$');
  };
  const all = [patterns].flat();
  const [wanted, unwanted] = [false, true].map((not) => all.filter((one) => one.startsWith('!') === not).map((one) => expression(one.replace(/^!/, ''))));
  const names = fs.readdirSync(home, { recursive: true }).filter((one) => !one.startsWith('node_modules'));
  const files = names.map((one) => path.join(home, one)).filter((one) => wanted.some((by) => by.test(one)) && !unwanted.some((by) => by.test(one)));
  const given = (file) => {
    if (!isRaw) return () => import(pathToFileURL(file).href);
    const text = fs.readFileSync(file, 'utf8');
    const value = options.import === 'default' || options.as === 'raw' ? text : { default: text };
    return options.eager ? value : async () => value;
  };
  const key = (file) => (path.relative(folder, file).startsWith('.') ? path.relative(folder, file) : './' + path.relative(folder, file));
  return Object.fromEntries(files.map((file) => [key(file), given(file)]));
};

try {
  const data = { home, bundled: '@RUNNER@' === 'vitest', typed: @TYPED@, bundler };
  if (bundler) globalThis[Symbol.for('@NAME@')] = glob;
  if (data.bundled || data.typed) nodeModule.register('@FOLDER@/@NAME@h.mjs', import.meta.url, { data });
  await PROVIDED['@RUNNER@']();
  await import('@FOLDER@/@TEST@');
} catch (error) {
  console.error(error);
  tell((first === '1' || first === '2') && runner.wantsTests(error) ? 'fail' : 'error');
}
if (first !== '1' && first !== '2') await runner.run(first);
const word = await runner.run(name);
const again = word === 'pass' && first === '2' ? await runner.run(name) : '';
// An error may be the test's own: it need not be made for a second run.
tell(again === 'fail' || again === 'rigged' ? 'pass fail' : word);
