export const add = (a, b) => b + a;
