import guard from './@NAME@g.cjs';

const assert = guard.assert@KIND@;
export default assert;
export const { ok, fail, equal, notEqual, deepEqual, notDeepEqual, strictEqual, notStrictEqual, deepStrictEqual } = assert;
export const { notDeepStrictEqual, partialDeepStrictEqual, throws, doesNotThrow, rejects, doesNotReject, ifError } = assert;
export const { match, doesNotMatch, AssertionError, strict } = assert;
