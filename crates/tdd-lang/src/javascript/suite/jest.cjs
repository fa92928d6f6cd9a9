const FS = require('node:fs');
CHANNEL
const MARKED = { pending: 'skip', skipped: 'skip', todo: 'skip', disabled: 'skip', passed: 'pass', failed: 'fail' };
const asked = process.argv.find((word) => word.startsWith('--testNamePattern='));
const wanted = asked ? new RegExp(asked.slice(asked.indexOf('=') + 1), 'i') : null;
function failure(result) {
  const said = String(result.failureMessages?.[0] ?? '');
  const details = result.failureDetails?.[0] ?? {};
  const known = details.error ?? details;
  const matched = known.matcherResult !== undefined || /^(Error: assert\b|AssertionError\b)/.test(said);
  const head = /^(?:\s*thrown: )?([A-Za-z]*(?:Error|Exception))(?: \[(\w+)\])?: ([\s\S]*?)(?=\n\s+at |$)/.exec(said);
  if (/^New snapshot was .{0,9}not written/m.test(said)) {
    return { name: 'Error', code: 'TDD_NO_SNAPSHOT', message: 'no snapshot is stored: write the expected value into the test, as of `toMatchInlineSnapshot`, or store it', stack: said };
  }
  const name = matched ? 'AssertionError' : (head?.[1] ?? 'Error');
  return { name, message: known.message ?? head?.[3] ?? said, stack: said, code: known.code ?? head?.[2] };
}
module.exports = class {
  onTestFileStart(test) {
    this.files = (this.files ?? 0) + 1;
  }
  onTestCaseStart(test, info) {
    send({ type: 'start', file: test.path, name: [...(info.ancestorTitles ?? []), info.title] });
  }
  onTestResult(test, result) {
    const file = test.path;
    for (const one of result.testResults) {
      const outcome = MARKED[one.status];
      if (!outcome) continue;
      if (outcome === 'skip' && wanted && !wanted.test(one.fullName)) continue;
      const error = outcome === 'fail' ? failure(one) : null;
      const name = [...one.ancestorTitles, one.title];
      send({ type: 'test', file, name, kind: 'test', outcome, why: one.status, ms: one.duration ?? 0, error, around: false });
    }
    const error = result.testExecError;
    const words = String(error?.message);
    const gone = error && (/(worker|child) process.*(exited|terminated|crashed)/is.test(words) || /\bSIG[A-Z]+\b/.test(words));
    if (gone) send({ type: 'begun', file });
    else {
      const known = error ? { name: error.name ?? error.type, message: error.message, stack: error.stack, code: error.code } : null;
      if (known) known.name = known.name ?? /^\s*([A-Za-z]*Error)\b/m.exec(String(error.stack ?? ''))?.[1];
      send({ type: 'ended', file, error: known });
    }
  }
  onRunComplete() {
    send({ type: 'end' });
  }
};
