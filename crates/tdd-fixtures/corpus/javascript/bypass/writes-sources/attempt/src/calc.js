import fs from 'node:fs';

/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function double(n) {
  return n * 2;
}

fs.writeFileSync(new URL('./more.js', import.meta.url), '');
