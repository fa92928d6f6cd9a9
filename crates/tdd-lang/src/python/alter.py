"""Alters one answer of production, chosen by a variable, and records what was reached and altered."""
import datetime
import enum
import os
import sys
import types

CREATE, WRITE, CLOSE = os.open, os.write, os.close
RECORD = os.environ.get("T_RECORD")
WHICH, _, HOW = os.environ.get("T_SWITCH", "").partition(" ")
SAME = object()
SEEN = set()
DEPTH = 4
PLAIN = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type, BaseException)


def note(line):
    if RECORD and line not in SEEN:
        SEEN.add(line)
        try:
            file = CREATE(RECORD, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            WRITE(file, (line + "\n").encode())
            CLOSE(file)
        except OSError:
            pass


def reached(which):
    note(str(which))


def answer(which, value):
    """What a function returns, in the place of this value."""
    which = str(which)
    note(which)
    if which != WHICH or HOW == "nothing":
        return value
    if isinstance(value, types.CoroutineType):
        return later(which, value)
    if isinstance(value, (types.GeneratorType, map, filter, zip)):
        return each(which, value)
    try:
        other = altered(value, HOW, 0)
    except Exception:
        other = SAME
    if other is SAME:
        return value
    note(which + " " + HOW)
    return other


def operator(which, value):
    """The same for an arithmetic operator: a plain number would be part of what compares."""
    if hasattr(type(value), "__dict__") and type(value).__module__ != "builtins":
        return answer(which, value)
    return value


def skip(module, names, silent):
    """Replaces the function that the switch names by one that does nothing, and watches functions without a value."""
    for which, path in names.items():
        if which == WHICH and HOW == "nothing":
            replace(module, path.split("."), lambda old: nothing(which))
        elif which in silent:
            replace(module, path.split("."), lambda old: watched(which, old))


def replace(module, path, make):
    holder = types.SimpleNamespace(**module)
    for part in path[:-1]:
        holder = getattr(holder, part, None)
    old = getattr(holder, "__dict__", {}).get(path[-1])
    if old is None:
        return
    plain = getattr(old, "__func__", None) or getattr(old, "fget", None) or old
    if not isinstance(plain, types.FunctionType):
        return
    flags = plain.__code__.co_flags
    act = make(plain)

    async def acts_later(*args, **kwargs):
        result = act(*args, **kwargs)
        return await result if isinstance(result, types.CoroutineType) else result

    def no_items(*args, **kwargs):
        act()
        yield from ()

    made = acts_later if flags & 0x80 else no_items if flags & 0x20 else act
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__"):
        if hasattr(plain, name):
            setattr(made, name, getattr(plain, name))
    made.__wrapped__ = plain
    made = type(old)(made) if isinstance(old, (staticmethod, classmethod, property)) else made
    if isinstance(holder, type):
        setattr(holder, path[-1], made)
    else:
        module[path[-1]] = made


def nothing(which):
    def made(*args, **kwargs):
        note(which)
        note(which + " nothing")

    return made


def watched(which, old):
    def made(*args, **kwargs):
        result = old(*args, **kwargs)
        return result if isinstance(result, types.CoroutineType) else answer(which, result)

    return made


async def later(which, value):
    return answer(which, await value)


def each(which, values):
    for value in values:
        yield answer(which, value)


def altered(value, how, depth):
    kind = type(value)
    if depth > DEPTH or value is NotImplemented or isinstance(value, PLAIN):
        return SAME
    if value is None:
        return 1 if depth == 0 and how == "more" else SAME
    if kind is bool:
        # A recursive function may turn the opposite around again: the fixed values stay.
        other = (not value) if how == "more" else how == "other"
        return SAME if other is value else other
    if isinstance(value, enum.Enum):
        return member(value, kind, how)
    for base, change in CHANGES:
        if isinstance(value, base):
            other = change(value, how, depth)
            return SAME if other is SAME else kept(value, kind, base, other)
    module = kind.__module__.partition(".")[0]
    if module in ("decimal", "fractions", "numpy"):
        return value + 1 if how == "more" else value + 2 if how == "other" else -value
    if module == "datetime":
        return moment(value, how)
    if module == "uuid":
        return kind(int=value.int ^ (1 if how == "more" else 2))
    if module == "pathlib":
        return kind(str(value) + ("x" if how == "more" else "y"))
    if module in ("unittest", "_pytest", "re", "threading", "asyncio"):
        return SAME
    return instance(value, kind, how, depth)


def kept(value, kind, base, other):
    """The same value as an object of the same built-in subclass."""
    if kind is base:
        return other
    if base is dict and hasattr(value, "default_factory"):
        return kind(value.default_factory, other)
    made = base.__new__(kind) if base in (list, dict, set, bytearray) else base.__new__(kind, other)
    if base in (list, bytearray):
        base.extend(made, other)
    elif base in (dict, set):
        base.update(made, other)
    getattr(made, "__dict__", {}).update(getattr(value, "__dict__", {}))
    return made


def member(value, kind, how):
    members = list(kind.__members__.values())
    at = next((at for at, one in enumerate(members) if one is value), 0)
    step = {"more": 1, "other": 2, "less": len(members) - 1}[how]
    other = members[(at + step) % len(members)]
    return SAME if other is value else other


def number(value, how, depth):
    base = next(base for base in (int, float, complex) if isinstance(value, base))
    plain = base.__add__(value, base(0))
    other = plain + 1 if how == "more" else plain + 2 if how == "other" else -plain if plain else base(-1)
    return other if other != plain and other == other else base(1) if plain != 1 else base(2)


def rotated(letter):
    for first, size in (("a", 26), ("A", 26), ("0", 10)):
        at = ord(letter) - ord(first)
        if 0 <= at < size:
            return chr(ord(first) + (at + 1) % size)
    return "x" if letter.isalnum() else letter


def text(value, how, depth):
    plain = str.__getitem__(value, slice(None))
    if how == "more":
        return plain + "x"
    if how == "less":
        return plain[1:] if plain else SAME
    other = "".join(rotated(letter) for letter in plain)
    return other if other != plain else ("x" + plain[1:] if plain and plain[0] != "x" else SAME)


def data(value, how, depth):
    plain = bytes(value)
    if how == "more":
        return plain + b"x"
    if not plain:
        return SAME
    return plain[1:] if how == "less" else bytes([plain[0] ^ 1]) + plain[1:]


def row(value, how, depth):
    plain = list(tuple.__iter__(value))
    if not plain:
        return (1,) if how == "more" else SAME
    return tuple(plain) if fields(plain, range(len(plain)), how, depth) else SAME


def extra(values, depth):
    """An element that differs from the others."""
    for value in reversed(values):
        other = altered(value, "more", depth + 1)
        if other is not SAME and other is not None:
            return other
    return 1


def items(value, how, depth):
    plain = list(list.__iter__(value))
    if how == "more":
        return plain + [extra(plain, depth)]
    if how == "less":
        return plain[:-1] if plain else SAME
    return plain if fields(plain, range(len(plain)), how, depth) else SAME


def group(value, how, depth):
    base = set if isinstance(value, set) else frozenset
    plain = list(base.__iter__(value))
    if how == "more":
        added = extra(plain, depth)
        added = added if added not in plain else "x"
        return base(plain + [added])
    if not plain:
        return SAME
    return base(plain[:-1] if how == "less" else plain[:-1] + [extra(plain[-1:], depth)])


def table(value, how, depth):
    plain = dict(dict.items(value))
    keys = list(plain)
    if how == "more":
        key = altered(keys[-1], "more", depth + 1) if keys else "x"
        key = "x" if key is SAME else key
        plain[key] = extra(list(plain.values()), depth)
        return plain
    if how == "less":
        return {key: plain[key] for key in keys[:-1]} if keys else SAME
    return plain if fields(plain, keys, how, depth) else SAME


def span(value, how, depth):
    step = value.step
    return range(value.start, value.stop + (step if how == "more" else -step if how == "less" else 2 * step), step)


def moment(value, how):
    if isinstance(value, datetime.time):
        return value.replace(minute=(value.minute + (1 if how == "more" else 2)) % 60)
    if isinstance(value, datetime.timedelta):
        return value + datetime.timedelta(days=1 if how == "more" else 2) if how != "less" else -value
    if isinstance(value, datetime.date):
        return value + datetime.timedelta(days={"more": 1, "other": 2, "less": -1}[how])
    return SAME


def fields(plain, keys, how, depth):
    """Alters every field, or only the first, or only the last that can be altered."""
    done = False
    for key in reversed(keys) if how == "less" else keys:
        other = altered(plain[key], "more", depth + 1)
        if other is not SAME:
            plain[key] = other
            done = True
            if how != "more":
                break
    return done


def instance(value, kind, how, depth):
    """Another object of the same class; neither its constructor nor its operators are asked."""
    made = object.__new__(kind)
    own = dict(getattr(value, "__dict__", {}))
    names = [name for base in kind.__mro__ for name in slots(base)]
    held = {name: object.__getattribute__(value, name) for name in names if is_set(value, name)}
    both = {**own, **held}
    if not fields(both, list(both), how, depth):
        return SAME
    for name, other in both.items():
        if name in held:
            object.__setattr__(made, name, other)
        else:
            made.__dict__[name] = other
    return made


def slots(base):
    names = base.__dict__.get("__slots__", ())
    names = (names,) if isinstance(names, str) else names
    hidden = "_" + base.__name__.lstrip("_")
    return [
        hidden + name if name.startswith("__") and not name.endswith("__") else name
        for name in names
        if name not in ("__dict__", "__weakref__")
    ]


def is_set(value, name):
    try:
        object.__getattribute__(value, name)
        return True
    except AttributeError:
        return False


CHANGES = (
    (int, number),
    (float, number),
    (complex, number),
    (str, text),
    (bytes, data),
    (bytearray, data),
    (tuple, row),
    (list, items),
    (set, group),
    (frozenset, group),
    (dict, table),
    (range, span),
)
sys.modules[__name__] = types.SimpleNamespace(answer=answer, operator=operator, reached=reached, skip=skip)
