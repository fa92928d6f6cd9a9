import FS from 'node:fs';
import { Transform } from 'node:stream';
CHANNEL
const file = process.argv[1];
let idle = false, planned = false;
process.on('beforeExit', () => (idle = true));
process.prependListener('exit', () => {
  // Whatever is still in flight is so because somebody ended the process, or because nothing will ever end it.
  if (planned) return;
  if (!idle) stopped = true;
});
let stopped = false;
process.on('uncaughtExceptionMonitor', (error) => (uncaught = error));
let uncaught = null;
const stack = [], flying = [], begun = new Set();
let unrun = false;
const path = (data) => [...stack.slice(0, data.nesting), data.name];
function over(data, outcome) {
  if (stopped) return;
  const name = path(data);
  const error = data.details?.error;
  const cause = error?.code === 'ERR_TEST_FAILURE' && error.cause !== undefined ? error.cause : error;
  const type = error?.failureType ?? '';
  // Node gives up all tests that follow one that will never end: they are run by another process.
  if (type === 'cancelledByParent' && String(cause).includes('still pending') && (data.details?.type === 'suite' || !begun.has(JSON.stringify(name)))) {
    unrun = true;
    return;
  }
  const kind = data.details?.type === 'suite' ? 'suite' : 'test';
  if (data.skip !== undefined && String(data.skip).includes('does not match pattern')) {
    return send({ type: 'passed-over', file, name });
  }
  const marked = data.skip !== undefined ? 'skip' : data.todo !== undefined ? 'todo' : null;
  const ms = data.details?.duration_ms ?? 0;
  const reason = data.skip ?? data.todo;
  const why = marked ? (typeof reason === 'string' ? reason : marked) : type;
  const told = marked ? 'skip' : outcome;
  send({ type: 'test', file, name, kind, outcome: told, why, ms, error: told === 'fail' ? plain(cause) : null, around: type === 'hookFailed' });
}
const reporter = new Transform({ writableObjectMode: true, transform: (chunk, encoding, next) => next() });
reporter.on('pipe', (source) => {
  source.on('test:dequeue', (data) => {
    flying.length = data.nesting;
    flying.push(data.name);
    begun.add(JSON.stringify(flying));
    send({ type: 'start', file, name: flying.slice() });
  });
  source.on('test:start', (data) => {
    stack.length = data.nesting;
    stack.push(data.name);
  });
  source.on('test:pass', (data) => over(data, 'pass'));
  source.on('test:fail', (data) => over(data, 'fail'));
  source.on('test:plan', (data) => {
    if (data.nesting === 0 && !stopped) planned = true;
  });
});
process.on('exit', (code) => {
  if (unrun) return;
  if (planned || (idle && !stack.length)) send({ type: 'ended', file, error: null });
  else if (uncaught !== null && !stack.length) send({ type: 'ended', file, error: plain(uncaught) });
  if (planned && uncaught !== null) send({ type: 'error', file, error: plain(uncaught) });
});
send({ type: 'opened' });
export default reporter;
