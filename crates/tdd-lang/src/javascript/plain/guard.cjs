'use strict';
// Comparisons that production cannot rig: what it exchanges of the language is put back while an assertion is evaluated.
const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const { isPromise, isProxy } = require('node:util').types;
const text = String;
const holders = [Object, Function, Array, String, Number, Boolean, BigInt, Symbol, RegExp, Map, Set, WeakMap, WeakSet, Date, Error, Promise, ArrayBuffer];
const roots = [JSON, Reflect, getPrototypeOf(Uint8Array.prototype), getPrototypeOf([][Symbol.iterator]()), getPrototypeOf(new Map()[Symbol.iterator]())];
for (const holder of holders) roots.push(holder, holder.prototype);
const taken = [];
const take = (root, key) => {
  const own = getOwnPropertyDescriptor(root, key);
  if (own.configurable && (typeof own.value === 'function' || own.get)) taken.push({ root, key, own });
};
for (const root of roots) for (const key of ownKeys(root)) take(root, key);
// A test may exchange the clock.
for (const holder of holders) if (holder !== Date) take(globalThis, holder.name);
// What comparisons look for on any value, and the language does not have there.
const HOOKS = ['asymmetricMatch', '$$typeof', 'nodeType', 'toJSON', 'equals', Symbol.toPrimitive, Symbol.toStringTag, Symbol.iterator];
const added = [];
for (const holder of holders) {
  for (const key of HOOKS) if (!getOwnPropertyDescriptor(holder.prototype, key)) added.push({ root: holder.prototype, key });
}

const failure = (message) => {
  exports.isRigged = true;
  return Object.assign(new Error(message), { code: 'ERR_ASSERTION' });
};
/** Puts the language's own functions in their places, and gives what was there. */
function restore() {
  const changed = [];
  for (let at = 0; at < taken.length; at++) {
    const { root, key, own } = taken[at];
    const now = getOwnPropertyDescriptor(root, key);
    if (now && now.value === own.value && now.get === own.get) continue;
    if (!defineProperty(root, key, own)) throw failure(`\`${text(key)}\` is not the language's own`);
    changed[changed.length] = { root, key, now };
  }
  for (let at = 0; at < added.length; at++) {
    const { root, key } = added[at];
    const now = getOwnPropertyDescriptor(root, key);
    if (!now) continue;
    if (!deleteProperty(root, key)) throw failure(`\`${text(key)}\` is not the language's own`);
    changed[changed.length] = { root, key, now };
  }
  return changed;
}
function undo(changed) {
  for (let at = 0; at < changed.length; at++) {
    const { root, key, now } = changed[at];
    if (now) defineProperty(root, key, now);
    else deleteProperty(root, key);
  }
}
// So often is a value looked at that may answer otherwise each time.
const LOOKS = 50;
const plain = new Set([null, Object.prototype, Array.prototype, Map.prototype, Set.prototype, Date.prototype, RegExp.prototype, Promise.prototype]);
/** Whether a value runs code when it is compared. */
function isLively(value, depth = 0) {
  if (value === null || typeof value !== 'object' || depth > 5) return false;
  if (isProxy(value) || !plain.has(getPrototypeOf(value))) return true;
  const keys = ownKeys(value);
  for (let at = 0; at < keys.length && at < 200; at++) {
    const own = getOwnPropertyDescriptor(value, keys[at]);
    if (own.get || typeof own.value === 'function' || isLively(own.value, depth + 1)) return true;
  }
  return false;
}
/** How often the same comparison must come out the same; a function or an iterator may be used up. */
function looks(values) {
  let isAlive = false;
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (typeof value === 'function') return 1;
    if (value !== null && typeof value === 'object' && !isProxy(value) && (isPromise(value) || typeof value.next === 'function')) return 1;
    isAlive ||= isLively(value);
  }
  return isAlive ? LOOKS : 1;
}
/** Evaluates an assertion, more than once where a rigged value could make a difference. */
function guarded(call, self, args, values, current = () => call) {
  const changed = restore();
  let looked = 0;
  try {
    const value = apply(call, self, args);
    if (values && !isPromise(value)) for (const all = looks(values); ++looked < all; ) apply(call, self, args);
    return value;
  } catch (error) {
    undo(changed);
    const other = current();
    const isExchanged = changed.length > 0 || other !== call;
    if (looked > 0 || (isExchanged && passes(other, self, args))) exports.isRigged = true;
    throw error;
  } finally {
    undo(changed);
  }
}
/** Whether an assertion that fails holds with what production put in the place of other functions. */
function passes(call, self, args) {
  try {
    apply(call, self, args);
    return true;
  } catch {
    return false;
  }
}

/** An assertion function of node, and all that hang on it. */
function guardedAssert(own, made = new Map()) {
  if (made.has(own)) return made.get(own);
  const assert = (...args) => guarded(own, undefined, args, args);
  made.set(own, assert);
  for (const key of Object.keys(own)) {
    const part = own[key];
    if (key === 'strict') assert[key] = guardedAssert(part, made);
    else if (typeof part !== 'function' || /^[A-Z]/.test(key)) assert[key] = part;
    else assert[key] = (...args) => guarded(part, own, args, args, () => own[key]);
  }
  return assert;
}

const EQUALITY = new Set(['toEqual', 'toStrictEqual', 'toMatchObject', 'toContainEqual', 'toHaveProperty']);
/** Whether a value decides itself what it is equal to, as only an expected value may. */
function decides(value, depth = 0) {
  if (value === null || typeof value !== 'object' || depth > 5) return false;
  if (typeof value.asymmetricMatch === 'function') return true;
  const parts = ownKeys(value).slice(0, 200).map((key) => getOwnPropertyDescriptor(value, key));
  return parts.some((part) => part && decides(part.value, depth + 1));
}
/** What `expect` gives, with all assertions that hang on it. */
function guardedExpectation(own, subject) {
  return new Proxy(Object.create(null), {
    get(_, key) {
      if (key === 'resolves' && isPromise(subject.value)) return resolved(own.resolves, subject.value, []);
      const part = guarded(Reflect.get, Reflect, [own, key]);
      if (part === null || (typeof part !== 'object' && typeof part !== 'function')) return part;
      const chained = guardedExpectation(part, subject);
      if (typeof part !== 'function') return chained;
      const call = (...args) => {
        const compare = () => {
          if (EQUALITY.has(key) && decides(subject.value)) throw failure('the value decides itself what it is equal to');
          return apply(part, own, args);
        };
        const value = guarded(compare, undefined, args, [subject.value, ...args]);
        return value !== null && typeof value === 'object' && !isPromise(value) ? guardedExpectation(value, subject) : value;
      };
      return new Proxy(call, { get: (_, inner) => chained[inner] });
    },
  });
}
/** The same for a promise: what it was resolved with is compared when it is there. */
function resolved(own, promise, way) {
  return new Proxy(() => {}, {
    get: (_, key) => resolved(own, promise, [...way, key]),
    async apply(_, self, args) {
      const value = await promise;
      let at = exports.expect(value);
      for (const key of way.slice(0, -1)) at = at[key];
      return at[way.at(-1)](...args);
    },
  });
}
/** The `expect` of a runner. */
exports.guardedExpect = (own) => {
  exports.expect = new Proxy(own, {
    apply: (_, self, args) => guardedExpectation(guarded(own, undefined, args), { value: args[0] }),
  });
  return exports.expect;
};
exports.assert = guardedAssert(require('node:assert'));
