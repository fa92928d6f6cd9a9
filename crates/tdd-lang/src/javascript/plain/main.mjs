import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [name, first] = fs.readFileSync(0, 'utf8').split('\n');
const home = path.dirname(process.argv[1]);
const require = createRequire(import.meta.url);
const runner = require('@FOLDER@/@NAME@.cjs');

function tell(word) {
  fs.writeSync(3, name + ' ' + word + '\n');
  process.exit(word === 'pass' ? 0 : 1);
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
    Object.assign(runner, { expect, vi: { fn, spyOn, isMockFunction, clearAllMocks, resetAllMocks, restoreAllMocks } });
  },
  async jest() {
    const { expect } = (await module('expect', 'jest')).default;
    const { ModuleMocker } = (await module('jest-mock', 'jest')).default;
    const mocker = new ModuleMocker(globalThis);
    Object.assign(runner, { expect, jest: { fn: mocker.fn.bind(mocker), spyOn: mocker.spyOn.bind(mocker) } });
  },
};

try {
  await PROVIDED['@RUNNER@']();
  await import('@FOLDER@/@TEST@');
} catch (error) {
  console.error(error);
  tell('error');
}
fs.rmSync(path.join(home, '@FOLDER@/@TEST@'));
if (first !== '1') await runner.run(first);
tell(await runner.run(name));
