import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [task, ...rest] = process.argv.slice(1);

function installed(name, program = name) {
  for (let at = process.cwd(); ; at = path.dirname(at)) {
    const home = path.join(at, 'node_modules', name);
    try {
      const manifest = JSON.parse(fs.readFileSync(path.join(home, 'package.json'), 'utf8'));
      const bin = typeof manifest.bin === 'string' ? manifest.bin : manifest.bin?.[program];
      return { script: bin && path.join(home, bin), version: manifest.version };
    } catch {
      if (at === path.dirname(at)) return null;
    }
  }
}

/** Whether yarn keeps what is installed in archives, where only a node of its own finds it. */
function plugged() {
  for (let at = process.cwd(); ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, '.pnp.cjs'))) return true;
    if (at === path.dirname(at)) return false;
  }
}

const PLUGGED = "yarn's Plug'n'Play hides it; set `nodeLinker: node-modules` in `.yarnrc.yml` and run `yarn install`";

/** Says which version there is, or why there is none. */
function answer(found, otherwise) {
  process.exitCode = found ? 0 : 1;
  process[found ? 'stdout' : 'stderr'].write((found ?? otherwise) + '\n');
}

function run(tool, ...argv) {
  const options = { encoding: 'utf8', maxBuffer: 1 << 26 };
  return spawnSync(process.execPath, [tool.script, ...argv], options);
}

const there = (test) => fs.readdirSync('.').some((name) => test.test(name));
const below = (file) => path.relative(process.cwd(), file);
let fine = true;

function complain(text) {
  fine = false;
  process.stderr.write('error: ' + text.trimEnd() + '\n');
}

function lint(eslint) {
  const done = run(eslint, '--format=json', '--no-error-on-unmatched-pattern', '--ignore-pattern=.tdd/**', '.');
  let results;
  try {
    results = JSON.parse(done.stdout);
  } catch {
    return complain(done.stderr || done.stdout || 'eslint gave no answer');
  }
  for (const { filePath, messages } of results) {
    for (const { line, column, message, ruleId, severity } of messages.filter((one) => one.severity === 2 || one.fatal)) {
      complain(`${below(filePath)}:${line ?? 1}:${column ?? 1}: ${message}${ruleId ? ' (' + ruleId + ')' : ''}`);
    }
  }
}

function types(tsc) {
  const done = run(tsc, '--noEmit', '--pretty', 'false', '-p', '.');
  if (done.status === 0) return;
  const said = (done.stdout + done.stderr).split('\n').filter((line) => line.trim());
  // A project that has no file yet has no mistake in it.
  if (said.length && said.every((line) => /error TS18003:/.test(line))) return;
  for (const line of said) {
    const found = /^(.*?)\((\d+),(\d+)\): error (.*)$/.exec(line);
    if (found) complain(`${found[1]}:${found[2]}:${found[3]}: ${found[4]}`);
    else process.stderr.write(line + '\n');
  }
  fine = false;
}

function* sources(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.name.startsWith('.') || ['node_modules', 'dist', 'coverage', 'build'].includes(entry.name)) continue;
    if (entry.isDirectory()) yield* sources(file);
    else if (/\.[cm]?js$/.test(entry.name)) yield file;
  }
}

function syntax() {
  for (const file of sources('.')) {
    const done = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
    if (done.status === 0) continue;
    const line = /:(\d+)\n/.exec(done.stderr)?.[1] ?? 1;
    const what = /^(\w*Error: .*)$/m.exec(done.stderr)?.[1] ?? done.stderr;
    complain(`${file}:${line}: ${what}`);
  }
}

if (task === 'version') {
  const tool = installed(rest[0]);
  answer(tool && `${rest[0]} ${tool.version}`, plugged() ? PLUGGED : 'it is not installed in this project');
} else if (task === 'types-in-node') {
  const tsx = installed('tsx');
  const own = process.features.typescript ? `node ${process.version} runs TypeScript by itself` : null;
  answer(own ?? (tsx && `through tsx ${tsx.version}`), `node ${process.version} does not run TypeScript`);
} else if (task === 'format') {
  const prettier = installed('prettier');
  const done = prettier && run(prettier, '--write', '--log-level=warn', '--ignore-unknown', '--', ...rest);
  process.stderr.write(done?.stderr ?? '');
  process.exitCode = done?.status ?? 0;
} else {
  const eslint = there(/^(eslint\.config\.|\.eslintrc)/) ? installed('eslint') : null;
  const tsc = there(/^tsconfig\.json$/) ? installed('typescript', 'tsc') : null;
  if (eslint) lint(eslint);
  if (tsc) types(tsc);
  if (!eslint) syntax();
  process.exitCode = fine ? 0 : 1;
}
