/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export function each(list, act) {
  list.forEach((one) => act(one * 2));
}
