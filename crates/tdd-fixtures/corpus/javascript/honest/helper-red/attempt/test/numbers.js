export const four = 4;
