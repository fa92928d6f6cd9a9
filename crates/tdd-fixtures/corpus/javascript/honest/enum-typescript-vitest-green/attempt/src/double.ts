import { Factor } from './factor';

export interface Asked {
  n: number;
}

export function double({ n }: Asked): number {
  return n * Factor.Two;
}
