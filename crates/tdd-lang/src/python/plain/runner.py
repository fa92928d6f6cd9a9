"""Takes the place of pytest in a process that runs one test, and says on file descriptor 3 what became of it.

What a test needs and is not here is an error, not a failure: then the test is run by pytest.
"""
import os
import sys
import time

# What production raises without being wrong: something is missing here that the usual run has.
MISSING = (ImportError, OSError, KeyError)
# What production raises when it is wrong. Of other errors nobody knows.
WRONG = (NotImplementedError, ValueError, ArithmeticError, IndexError)


class Unsupported(Exception):
    """The test needs its runner."""


class Skipped(BaseException):
    """The test was skipped."""


def fail(reason="", pytrace=True):
    raise AssertionError(reason)


def skip(reason="", **_):
    raise Skipped(reason)


class Raised:
    """The error that was raised."""

    def __init__(self):
        self.type = self.value = self.tb = None

    def match(self, pattern):
        import re

        text = str(self.value)
        assert re.search(pattern, text), "%r does not match %r" % (pattern, text)
        return True


class Raises:
    def __init__(self, expected, match):
        self.expected, self.pattern, self.raised = expected, match, Raised()

    def __enter__(self):
        return self.raised

    def __exit__(self, kind, value, trace):
        assert kind is not None, "nothing was raised"
        if not issubclass(kind, self.expected):
            return False
        self.raised.type, self.raised.value, self.raised.tb = kind, value, trace
        if self.pattern is not None:
            self.raised.match(self.pattern)
        return True


def raises(expected, *call, match=None, **named):
    context = Raises(expected, match)
    if not call:
        if named:
            raise Unsupported("raises")
        return context
    with context as raised:
        call[0](*call[1:], **named)
    return raised


def is_number(value):
    return isinstance(value, (int, float, complex)) and not isinstance(value, bool)


class approx:
    """A value that numbers near to it are equal to."""

    __array_ufunc__ = None
    __array_priority__ = 100

    def __init__(self, expected, rel=None, abs=None, nan_ok=False):
        if isinstance(expected, (set, frozenset)) or not isinstance(expected, (int, float, complex, dict, list, tuple)):
            raise Unsupported("approx")
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def near(self, actual, expected):
        if not (is_number(actual) and is_number(expected)):
            return actual == expected
        if actual == expected:
            return True
        if expected != expected:
            return self.nan_ok and actual != actual
        if abs(expected) == float("inf"):
            return False
        rel = self.rel if self.rel is not None else 0 if self.abs is not None else 1e-6
        return abs(actual - expected) <= max(rel * abs(expected), self.abs if self.abs is not None else 1e-12)

    def __eq__(self, actual):
        if isinstance(self.expected, dict):
            same = isinstance(actual, dict) and actual.keys() == self.expected.keys()
            return same and all(self.near(actual[key], self.expected[key]) for key in self.expected)
        if isinstance(self.expected, (list, tuple)):
            same = hasattr(actual, "__len__") and len(actual) == len(self.expected)
            return same and all(map(self.near, actual, self.expected))
        return self.near(actual, self.expected)

    def __ne__(self, actual):
        return not self == actual

    __hash__ = None

    def __repr__(self):
        return "about %r" % (self.expected,)


class Row:
    def __init__(self, values):
        self.values = values


def param(*values, marks=(), id=None):
    if marks:
        raise Unsupported("marks of a row")
    return Row(values)


class Marks:
    """Decorators that say something about a test."""

    def parametrize(self, names, rows, **more):
        if set(more) - {"ids"}:
            raise Unsupported("parametrize")
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
        table = []
        for row in rows:
            values = row.values if isinstance(row, Row) else (row,) if len(names) == 1 else tuple(row)
            table.append(dict(zip(names, values)))

        def decorate(function):
            function.__dict__.setdefault("@NAME@", []).append(table)
            return function

        return decorate

    def __getattr__(self, name):
        if name in ("skip", "skipif", "xfail", "usefixtures", "asyncio", "anyio"):
            raise Unsupported(name)
        return self

    def __call__(self, *given, **_):
        return given[0] if len(given) == 1 and callable(given[0]) else self


mark = Marks()
FIXTURES = {}


def fixture(function=None, **options):
    if function is None:
        return lambda function: fixture(function, **options)
    if set(options) - {"scope", "name"}:
        raise Unsupported("fixture")
    FIXTURES[options.get("name") or function.__name__] = function
    return function


class MonkeyPatch:
    """Changes that are undone after the test."""

    def __init__(self):
        self.undo_last = []

    def setattr(self, target, name, *value, raising=True):
        if not value:
            raise Unsupported("setattr by path")
        missing = object()
        old = target.__dict__.get(name, missing) if isinstance(target, type) else getattr(target, name, missing)
        if raising and not hasattr(target, name):
            raise AttributeError(name)
        self.undo_last.append(lambda: delattr(target, name) if old is missing else setattr(target, name, old))
        setattr(target, name, value[0])

    def setitem(self, target, name, value):
        self.delitem(target, name, raising=False)
        target[name] = value

    def delitem(self, target, name, raising=True):
        if name in target:
            old = target[name]
            self.undo_last.append(lambda: target.__setitem__(name, old))
            del target[name]
        elif raising:
            raise KeyError(name)
        else:
            self.undo_last.append(lambda: target.pop(name, None))

    def setenv(self, name, value, prepend=None):
        if prepend:
            raise Unsupported("setenv")
        self.setitem(os.environ, name, str(value))

    def delenv(self, name, raising=True):
        self.delitem(os.environ, name, raising)

    def chdir(self, path):
        old = os.getcwd()
        self.undo_last.append(lambda: os.chdir(old))
        os.chdir(path)

    def undo(self):
        while self.undo_last:
            self.undo_last.pop()()


class Given:
    """The fixtures of one call."""

    def __init__(self, known):
        self.known, self.values, self.ends = known, {}, []

    def get(self, name):
        if name not in self.values:
            self.values[name] = self.make(name)
        return self.values[name]

    def make(self, name):
        if name in self.known:
            function = self.known[name]
            made = function(**{wanted: self.get(wanted) for wanted in parameters(function)})
            if hasattr(made, "__next__") and function.__code__.co_flags & 0x20:
                value = next(made)
                self.ends.append(lambda: next(made, None))
                return value
            return made
        if name == "tmp_path":
            import pathlib
            import tempfile

            return pathlib.Path(tempfile.mkdtemp())
        if name == "monkeypatch":
            patch = MonkeyPatch()
            self.ends.append(patch.undo)
            return patch
        raise Unsupported(name)

    def end(self):
        while self.ends:
            self.ends.pop()()


def parameters(function):
    code = function.__code__
    if code.co_flags & (0x04 | 0x08 | 0x80 | 0x200):
        raise Unsupported("an asynchronous test, or one with any number of arguments")
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def rows(function):
    """The arguments of each case of a test."""
    cases = [{}]
    for table in function.__dict__.get("@NAME@", ()):
        cases = [{**case, **row} for case in cases for row in table]
    return cases


def renamed(function):
    """The function under a name that tells nothing."""
    names = {"co_name": "main", "co_qualname": "main"}
    code = function.__code__
    function.__code__ = code.replace(**{name: text for name, text in names.items() if hasattr(code, name)})
    function.__name__ = function.__qualname__ = "main"


class Job:
    """One test of a module."""

    def __init__(self, module, path, known):
        self.known = known
        if hasattr(module, "pytestmark"):
            raise Unsupported("pytestmark")
        self.classes, self.owner = path.split("::")[:-1], module
        for name in self.classes:
            self.owner = getattr(self.owner, name)
        if hasattr(self.owner, "pytestmark"):
            raise Unsupported("pytestmark")
        self.name = path.split("::")[-1]
        self.function = vars(self.owner)[self.name]
        if not hasattr(self.function, "__code__"):
            raise Unsupported("a test that is no function")
        parameters(self.function)
        renamed(self.function)
        self.has_setup = any(hasattr(module, name) for name in ("setup_module", "setup_function", "setUpModule"))

    def can_be_repeated(self):
        """Whether nothing sets up or tidies away what the test leaves behind."""
        names = set(parameters(self.function))
        return not self.classes and all(names <= set(row) for row in rows(self.function))

    def run(self):
        if self.has_setup:
            raise Unsupported("setup")
        if not self.classes:
            return self.cases(lambda arguments: self.function(**arguments), ())
        if hasattr(self.owner, "assertEqual"):
            return self.as_case()
        if hasattr(self.owner, "setup_class"):
            raise Unsupported("setup_class")
        value = self.owner()

        def call(arguments):
            for before in ("setup_method", "setup"):
                if hasattr(value, before):
                    getattr(value, before)()
            self.function(value, **arguments)

        return self.cases(call, parameters(self.function)[:1])

    def cases(self, call, own):
        for row in rows(self.function):
            given = Given(self.known)
            wanted = [name for name in parameters(self.function) if name not in own and name not in row]
            try:
                call({**row, **{name: given.get(name) for name in wanted}})
            finally:
                given.end()

    def as_case(self):
        """A test of the standard library's kind."""
        if rows(self.function) != [{}]:
            raise Unsupported("a table")
        self.owner.setUpClass()
        value = self.owner(self.name)
        value.setUp()
        try:
            self.function(value)
        finally:
            value.tearDown()
            value.doCleanups()
            self.owner.tearDownClass()


def verdict(error, home, own, is_first):
    """What an error that ended the test says of it."""
    if isinstance(error, AssertionError):
        return "fail"
    if not is_first:
        # An error may be the honest answer to what was done before.
        return "pass"
    if isinstance(error, Skipped):
        return "skip"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_in = os.path.realpath(trace.tb_frame.f_code.co_filename) if trace is not None else ""
    is_ours = raised_in.startswith(home + os.sep) and not raised_in.startswith(own)
    return "fail" if is_ours and isinstance(error, WRONG) and not isinstance(error, MISSING) else "error"


def tell(error, texts):
    """Prints the error, and the line of the test at which it was."""
    trace, line = error.__traceback__, ""
    while trace is not None:
        text = texts.get(trace.tb_frame.f_code.co_filename)
        line = text[trace.tb_lineno - 1].strip() if text else line
        trace = trace.tb_next
    print("%s: %s\n%s" % (type(error).__name__, error, line), file=sys.__stderr__, flush=True)


def start():
    name, how = sys.stdin.read().split("\n")[:2]
    pipe = os.dup(3)
    os.close(3)
    home = os.path.realpath(os.path.dirname(sys.argv[0]))
    folder = os.path.normpath(os.path.join(home, "@FOLDER@"))
    own = os.path.join(folder, "@NAME@")
    sys.path[1:1] = [place for place in (os.path.join(home, name) for name in ("src", "lib")) if os.path.isdir(place)]
    sys.path.insert(0, os.path.normpath(os.path.join(home, "@PATH@")))
    # An environment's own finder looks as if a runner had put it there.
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "_distutils_hack"]
    words, job, texts = [], None, {}
    exits = os._exit

    def end():
        os.write(pipe, (name + " " + " ".join(words) + "\n").encode())
        exits(0 if words in (["pass"], ["pass", "pass"]) else 1)

    def attempt(act):
        try:
            act()
            return "pass"
        except BaseException as error:
            tell(error, texts)
            return verdict(error, home, own, is_first=not words)

    def load():
        nonlocal job
        module = __import__("@MODULE@", fromlist=["x"])
        job = Job(module, name, FIXTURES)
        with open(module.__file__, encoding="utf-8") as file:
            texts[module.__file__] = file.read().split("\n")
        for file in (sys.argv[0], __file__, module.__file__):
            os.remove(file)
        del sys.modules[__name__], sys.modules[module.__name__]

    if attempt(load) != "pass":
        words.append("error")
        end()
    words.append(attempt(job.run))
    if words == ["pass"] and how == "2" and job.can_be_repeated():
        began, last = time.monotonic(), attempt(job.run)
        runs = 1
        while last == "pass" and runs < 5000 and time.monotonic() - began < 0.2:
            last, runs = attempt(job.run), runs + 1
        words.append(last)
    end()
