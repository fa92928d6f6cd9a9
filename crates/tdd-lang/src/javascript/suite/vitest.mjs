import FS from 'node:fs';
CHANNEL
function known(error) {
  const told = plain(error);
  if (error.expected !== undefined || !/^Snapshot `.*` mismatched$/s.test(told.message)) return told;
  return { ...told, code: 'TDD_NO_SNAPSHOT', message: 'no snapshot is stored: write the expected value into the test, as of `toMatchInlineSnapshot`, or store it' };
}
function tell(file, task, outer, hook = null) {
  const name = [...outer, task.name];
  if (task.type === 'suite') {
    const error = task.result?.errors?.[0];
    if (error) send({ type: 'test', file, name, kind: 'suite', outcome: 'fail', why: '', ms: 0, error: plain(error), around: true });
    return task.tasks.map((inner) => tell(file, inner, name, error ?? hook)).every(Boolean);
  }
  const state = task.result?.state ?? (task.mode === 'run' || task.mode === 'only' ? undefined : task.mode);
  // What a hook of its group kept from running is no more skipped than what a hook of its own did.
  if (state === 'skip' && hook && !unasked(task)) {
    send({ type: 'test', file, name, kind: 'test', outcome: 'fail', why: '', ms: 0, error: known(hook), around: true });
    return true;
  }
  const outcome = { pass: 'pass', fail: 'fail', skip: 'skip', todo: 'skip' }[state];
  if (!outcome) return false;
  const error = task.result?.errors?.[0];
  if (outcome === 'skip' && task.mode !== 'todo' && unasked(task)) return true;
  const ms = task.result?.duration ?? 0;
  const why = outcome === 'skip' ? String(task.result?.note ?? state) : '';
  send({ type: 'test', file, name, kind: 'test', outcome, why, ms, error: error ? known(error) : null, around: false });
  return true;
}
const at = process.argv.indexOf('-t');
const wanted = at < 0 ? null : new RegExp(process.argv[at + 1]);
function unasked(task) {
  const names = [];
  for (let one = task; one && one.type !== undefined && one.filepath === undefined; one = one.suite) names.unshift(one.name);
  return wanted !== null && !wanted.test(names.join(' '));
}
function names(task) {
  const found = [];
  for (let one = task; one && one.filepath === undefined; one = one.suite) found.unshift(one.name);
  return found;
}
export default class {
  onTestModuleCollected(module) {
    send({ type: 'begun', file: module.moduleId });
  }
  onTestCaseReady(test) {
    if (test.task) send({ type: 'start', file: test.module.moduleId, name: names(test.task) });
  }
  onTestRunEnd(modules, errors) {
    this.over(modules.map((module) => module.task), errors);
  }
  onFinished(files, errors) {
    if (files?.[0]?.tasks && !this.told) this.over(files, errors ?? []);
  }
  over(files, errors) {
    this.told = true;
    let lost = false;
    for (const file of files) {
      const whole = file.tasks.map((task) => tell(file.filepath, task, [])).every(Boolean);
      const error = file.result?.errors?.[0];
      // A worker that was lost leaves tests without a result.
      if (error || (whole && file.result?.state)) send({ type: 'ended', file: file.filepath, error: error ? plain(error) : null });
      else {
        lost = true;
        send({ type: file.tasks.length ? 'begun' : 'opened', file: file.filepath });
      }
    }
    for (const error of errors) {
      const pool = /vitest-pool|exited unexpectedly|Channel closed/i.test(String(error.message));
      if (!lost || !pool) send({ type: 'error', error: plain(error) });
    }
    send({ type: 'end' });
  }
}
