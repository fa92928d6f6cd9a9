const { writeSync, readSync, closeSync } = FS;
const wait = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
function read() {
  const bytes = Buffer.alloc(64);
  for (let at = 0; ; ) {
    try {
      const got = readSync(4, bytes, at, 1, null);
      if (got === 0 || bytes[at] === 10) return bytes.toString('utf8', 0, at);
      at += got;
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      wait();
    }
  }
}
const token = read();
closeSync(4);
// What the project may exchange later is taken now, and the token never goes through any of it.
const { stringify } = JSON;
const encode = TextEncoder.prototype.encode.bind(new TextEncoder());
let number = 0;
function send(event) {
  const bytes = encode('["' + token + '",' + ++number + ',' + stringify(event) + ']\n');
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(3, bytes, at, bytes.length - at, null);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      wait();
    }
  }
}
function plain(error) {
  if (error === null || typeof error !== 'object') return { name: 'thrown', message: String(error), stack: '' };
  const text = (name) => {
    try {
      return error[name] === undefined ? undefined : String(error[name]);
    } catch {
      return undefined;
    }
  };
  return { name: text('name'), message: text('message'), stack: text('stack'), code: text('code') };
}
