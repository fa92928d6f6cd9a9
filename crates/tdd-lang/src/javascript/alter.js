// Alters one answer of production, chosen by a variable, and records what was reached and altered.
const [WHICH, HOW] = (process.env.T_SWITCH ?? '').split(' ');
const RECORD = process.env.T_RECORD;
const files = RECORD ? (process.getBuiltinModule?.('fs') ?? process.mainModule?.require('fs')) : undefined;
const append = files?.appendFileSync;
const SAME = Symbol('same');
const SEEN = new Set();
const DEPTH = 4;
const note = (line) => {
  if (!append || SEEN.has(line)) return;
  SEEN.add(line);
  try { append(RECORD, line + '\n'); } catch { SEEN.add(line); }
};
const rotated = (letter) => {
  for (const [first, size] of [[97, 26], [65, 26], [48, 10]]) {
    const at = letter.charCodeAt(0) - first;
    if (at >= 0 && at < size) return String.fromCharCode(first + ((at + 1) % size));
  }
  return letter;
};
const text = (value, how) => {
  if (how === 'more') return value + 'x';
  if (value === '') return SAME;
  if (how === 'less') return value.slice(1);
  const other = [...value].map(rotated).join('');
  return other !== value ? other : (value[0] === 'x' ? 'y' : 'x') + value.slice(1);
};
const number = (value, how, one, two) => {
  const other = how === 'more' ? value + one : how === 'other' ? value + two : value == 0 ? -one : -value;
  return other !== value && other === other ? other : value === one ? two : one;
};
const fields = (value, keys, how, depth) => {
  let done = false;
  for (const key of how === 'less' ? [...keys].reverse() : keys) {
    const other = altered(value[key], 'more', depth + 1);
    if (other === SAME) continue;
    value[key] = other;
    done = true;
    if (how !== 'more') break;
  }
  return done;
};
const extra = (values, depth) => {
  for (const value of [...values].reverse()) {
    const other = altered(value, 'more', depth + 1);
    if (other !== SAME) return other;
  }
  return 1;
};
const items = (value, how, depth) => {
  const made = [...value];
  if (how === 'more') return [...made, extra(made, depth)];
  if (how === 'less') return made.length ? made.slice(0, -1) : SAME;
  return fields(made, Object.keys(made), how, depth) ? made : SAME;
};
const instance = (value, how, depth) => {
  const proto = Object.getPrototypeOf(value);
  const is_plain = proto === null || Object.getPrototypeOf(proto) === null;
  const own = Object.getOwnPropertyDescriptors(value);
  const keys = Object.keys(own).filter((key) => own[key].enumerable && 'value' in own[key]);
  if (is_plain && keys.length === 0 && Object.keys(own).length === 0) return how === 'more' ? Object.assign(Object.create(proto), { x: 1 }) : SAME;
  const made = is_plain || Object.isFrozen(value) ? Object.create(proto) : value;
  if (made !== value) for (const key of Reflect.ownKeys(own)) Object.defineProperty(made, key, { ...own[key], ...('value' in own[key] ? { writable: true } : {}) });
  return fields(made, keys, how, depth) ? made : SAME;
};
const kind_of = (value) => Object.prototype.toString.call(value).slice(8, -1);
const altered = (value, how, depth) => {
  if (depth > DEPTH) return SAME;
  switch (typeof value) {
    case 'number': return number(value, how, 1, 2);
    case 'bigint': return number(value, how, BigInt(1), BigInt(2));
    case 'string': return text(value, how);
    // A recursive function may turn the opposite around again: the fixed values stay.
    case 'boolean': return how === 'more' ? !value : value === (how === 'other') ? SAME : !value;
    case 'undefined': return depth === 0 && how === 'more' ? 1 : SAME;
    case 'object': break;
    default: return SAME;
  }
  if (value === null) return depth === 0 && how === 'more' ? 1 : SAME;
  if (Array.isArray(value)) return items(value, how, depth);
  switch (kind_of(value)) {
    case 'Date': return new Date(value.getTime() + (how === 'more' ? 86400000 : how === 'other' ? 1000 : -86400000));
    case 'Map': {
      const made = new Map(value);
      const keys = [...made.keys()];
      if (how === 'more') made.set(keys.length ? extra(keys, depth) : 'x', extra([...made.values()], depth));
      else if (keys.length === 0) return SAME;
      else if (how === 'less') made.delete(keys[keys.length - 1]);
      else made.set(keys[0], extra([made.get(keys[0])], depth));
      return made;
    }
    case 'Set': {
      const made = new Set(value);
      const all = [...made];
      if (how === 'more') made.add(made.has(extra(all, depth)) ? 'x' : extra(all, depth));
      else if (all.length === 0) return SAME;
      else made.delete(all[all.length - 1]);
      if (how === 'other') made.add(extra(all.slice(-1), depth));
      return made;
    }
    case 'Uint8Array': case 'Int32Array': case 'Float64Array': {
      const made = value.slice();
      return made.length && fields(made, [0], how, depth) ? made : SAME;
    }
    case 'Object': return instance(value, how, depth);
    default: return SAME;
  }
};
const answer = (which, value, count) => {
  which = String(which);
  note(which);
  if (count === 1) {
    if (which === WHICH && HOW === 'nothing') note(which + ' nothing');
    return which === WHICH && HOW === 'nothing';
  }
  if (which !== WHICH || HOW === 'nothing') return value;
  if (value !== null && typeof value === 'object' && typeof value.then === 'function') return value.then((value) => answer(which, value));
  if (value !== null && typeof value === 'object' && typeof value.next === 'function' && typeof value[Symbol.iterator] === 'function') return each(which, value);
  let other = SAME;
  try { other = altered(value, HOW, 0); } catch { other = SAME; }
  if (other === SAME) return value;
  note(which + ' ' + HOW);
  return other;
};
const each = function* (which, values) { for (const value of values) yield answer(which, value); };
return answer;
