export enum Factor {
  One = 1,
  Two,
}
