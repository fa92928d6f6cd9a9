// Loads what node itself does not: TypeScript, imports without an ending, and what bundlers add.
import fs from 'node:fs';
import nodeModule from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const TYPED = /\.(ts|tsx|mts|cts|jsx)$/;
const ENDINGS = ['.ts', '.tsx', '.mts', '.js', '.jsx', '.mjs', '.json'];
let home, bundled, typed, bundler;

export function initialize(data) {
  ({ home, bundled, typed, bundler } = data);
}

const isFile = (file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile();

/** The file that an import means. */
function found(file) {
  const stem = file.replace(/\.([cm]?)jsx?$/, '');
  const compiled = stem === file ? [] : ENDINGS.map((ending) => stem + ending);
  const tries = [file, ...compiled, ...ENDINGS.map((ending) => file + ending), ...ENDINGS.map((ending) => path.join(file, 'index' + ending))];
  return tries.find(isFile);
}

export async function resolve(specifier, context, next) {
  if (!/^(\.|\/|file:)/.test(specifier) || context.parentURL?.includes('/node_modules/')) return next(specifier, context);
  const { pathname, search } = new URL(specifier, context.parentURL);
  const file = found(fileURLToPath('file://' + pathname));
  return file ? { url: pathToFileURL(file).href + search, shortCircuit: true } : next(specifier, context);
}

/** What takes the types away, of what is installed here. */
const compile = (() => {
  let known;
  const load = async (require, settings) => {
    try {
      const { transform } = require('esbuild');
      return async (text, file) => (await transform(text, { loader: path.extname(file).replace(/^\.[cm]?/, ''), format: 'esm', sourcefile: file, tsconfigRaw: settings })).code;
    } catch {}
    try {
      const { transpileModule } = require('typescript');
      return async (text, file) => transpileModule(text, { fileName: file, compilerOptions: { module: 99, target: 99, jsx: 4 } }).outputText;
    } catch {}
    if (!nodeModule.stripTypeScriptTypes) throw new Error('nothing here compiles TypeScript');
    return async (text) => nodeModule.stripTypeScriptTypes(text, { mode: 'transform' });
  };
  return async (text, file) => {
    const settings = path.join(home, 'tsconfig.json');
    known ??= load(nodeModule.createRequire(path.join(home, 'package.json')), isFile(settings) ? fs.readFileSync(settings, 'utf8') : '{}');
    return (await known)(text, file);
  };
})();

/** What a bundler adds to a module; the answers are those of a finished program. */
const SHIM = [
  "import.meta.env = { MODE: 'production', PROD: true, DEV: false, SSR: true, BASE_URL: '/' };",
  'import.meta.glob = globalThis[Symbol.for("@NAME@")](import.meta.url);',
].join(' ');

export async function load(url, context, next) {
  const { protocol, pathname, searchParams } = new URL(url);
  if (protocol !== 'file:' || pathname.includes('/node_modules/')) return next(url, context);
  const file = fileURLToPath('file://' + pathname);
  const module = (source) => ({ format: 'module', source, shortCircuit: true });
  const read = () => fs.readFileSync(file, 'utf8');
  if (bundled && searchParams.has('raw')) return module('export default ' + JSON.stringify(read()));
  const asked = context.importAttributes ?? context.importAssertions;
  if (file.endsWith('.json') && asked?.type !== 'json') return module('export default ' + read());
  const isTyped = TYPED.test(file);
  if (isTyped ? !typed : !bundled || !file.endsWith('.js')) return next(url, context);
  const text = isTyped ? await compile(read(), file) : read();
  const added = bundler && /import\.meta\.(env|glob)\b/.test(text) ? SHIM + ' ' : '';
  return isTyped || added || /^\s*(import|export)\b/m.test(text) ? module(added + text) : next(url, context);
}
