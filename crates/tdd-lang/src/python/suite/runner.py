"""Runs pytest in a child process and prints one JSON document about what became of each test.

The parent loads nothing of the project. It alone holds the real standard output, sees a child that ends too
early or hangs, blames the test in flight, and lets another child run the rest.
"""
import sys

# The folder that `-c` puts first: nothing of the project may be loaded in the place of what runs it.
if sys.path and sys.path[0] in ("", "."):
    del sys.path[0]

import difflib
import importlib.machinery
import importlib.util
import json
import os
import pprint
import re
import secrets
import select
import shutil
import signal
import tempfile
import time
import traceback
import unittest.async_case
import unittest.mock

LIMIT = 6000
RESTARTS = 40
INI = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
# Options by which a project's own configuration would keep tests from being run here, one by one, to the end.
PLAIN = {"maxfail": 0, "collectonly": False, "usepdb": False, "stepwise": False, "lf": False, "failedfirst": False}
PLAIN.update({"newfirst": False, "stepwise_skip": False, "stepwise_reset": False, "cacheshow": None, "cacheclear": False})
PLAIN.update({"numprocesses": 0, "dist": "no", "tx": [], "setuponly": False, "setupplan": False, "randomly_seed": 0})
SECTIONS = {"pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}


def configuration(root):
    """The project's own configuration of pytest, never that of a folder around it."""
    for name in INI:
        path = os.path.join(root, name)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                if SECTIONS.get(name, "") in file.read():
                    return path
        except OSError:
            pass
    handle, path = tempfile.mkstemp(suffix=".ini")
    with os.fdopen(handle, "w") as file:
        file.write("[pytest]\n")
    return path


def inside(root, path):
    """A path from the project's folder, if it is a source file of the project."""
    if not path or path.startswith("<"):
        return None
    path = os.path.realpath(path)
    if not path.startswith(root + os.sep) or "site-packages" in path:
        return None
    return path[len(root) + 1 :]


def file_of(value):
    """The file in which a module, or the type of a value, is written."""
    module = value if isinstance(value, type(sys)) else None
    if module is None:
        kind = value if isinstance(value, type) else type(value)
        module = sys.modules.get(getattr(kind, "__module__", ""))
    return getattr(module, "__file__", None)


def found_at(root, name):
    """Where the outermost package of a name is: a file of the project, `outside`, or nowhere."""
    try:
        spec = importlib.util.find_spec(name.split(".")[0])
    except Exception:
        return None
    if spec is None:
        return None
    places = [spec.origin] + list(spec.submodule_search_locations or [])
    return next((place for place in (inside(root, place) for place in places) if place), "outside")


def described(root, error):
    """What is to be known of an exception: its kind, its words, where it came from, and what it misses."""
    if type(error).__name__ == "UnexpectedException" and hasattr(error, "exc_info"):
        # Raised by an example in documentation.
        error = error.exc_info[1]
    said = {"type": type(error).__name__, "bases": [kind.__name__ for kind in type(error).__mro__[1:]]}
    try:
        said["message"] = str(error)[:LIMIT]
    except Exception:
        said["message"] = ""
    frames = ((inside(root, frame.f_code.co_filename), line) for frame, line in traceback.walk_tb(error.__traceback__))
    said["frames"] = [[path, line] for path, line in frames if path][-50:]
    if isinstance(error, ImportError):
        said["name"] = error.name
        said["from"] = inside(root, error.path)
        said["found"] = found_at(root, error.name) if error.name else None
    elif isinstance(error, AttributeError):
        said["name"] = getattr(error, "name", None)
        said["from"] = inside(root, file_of(getattr(error, "obj", None)))
    elif isinstance(error, NameError):
        said["name"] = getattr(error, "name", None)
    elif isinstance(error, SyntaxError):
        said["from"] = inside(root, error.filename)
        said["line"] = error.lineno
    return said


def reporter(pytest, root, send, wanted, done, broken):
    class Reporter:
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_cmdline_main(self, config):
            for name, value in PLAIN.items():
                if hasattr(config.option, name):
                    setattr(config.option, name, value)
            yield

        @pytest.hookimpl(tryfirst=True)
        def pytest_ignore_collect(self, collection_path):
            return True if inside(root, str(collection_path)) in broken else None

        def pytest_collectstart(self, collector):
            if isinstance(collector, pytest.Module):
                send(type="collecting", path=inside(root, str(collector.path)))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_make_collect_report(self, collector):
            report = (yield).get_result()
            if report.outcome == "passed":
                return
            error = report.call.excinfo.value if getattr(report, "call", None) and report.call.excinfo else None
            cause = error.__cause__ if error is not None and error.__cause__ is not None else error
            send(
                type="uncollected",
                id=report.nodeid,
                outcome=report.outcome,
                text=report.longreprtext[:LIMIT],
                error=described(root, cause) if cause is not None else None,
            )

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection_modifyitems(self, items):
            yield

            def is_wanted(item):
                plain = item.nodeid.split("[", 1)[0]
                # What `parameterized.expand` made of a test is called like it, with the number of a row.
                templates = {plain[: row.start()] for row in re.finditer(r"_\d", plain)}
                is_asked = not wanted or item.nodeid in wanted or plain in wanted or not wanted.isdisjoint(templates)
                return is_asked and item.nodeid not in done

            items[:] = [item for item in items if is_wanted(item)]

        def pytest_collection_finish(self, session):
            without_chance()
            self.names = {id(item): item.nodeid for item in session.items}
            send(type="collected", ids=list(self.names.values()))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_protocol(self, item):
            send(type="start", id=self.names.get(id(item), item.nodeid))
            yield
            send(type="finish", id=self.names.get(id(item), item.nodeid))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(self, item, call):
            report = (yield).get_result()
            error = call.excinfo.value if call.excinfo is not None else None
            send(
                type="report",
                id=self.names.get(id(item), item.nodeid),
                when=call.when,
                outcome=report.outcome,
                xfail=hasattr(report, "wasxfail"),
                seconds=call.duration,
                text=report.longreprtext[-LIMIT:] if report.outcome != "passed" else "",
                error=described(root, error) if error is not None else None,
            )

    return Reporter()


def without_chance():
    """Lets hypothesis try the same examples in every run."""
    core = sys.modules.get("hypothesis.core")
    if getattr(core, "global_force_seed", 0) is None:
        core.global_force_seed = 0


class CompiledAnew(importlib.machinery.SourceFileLoader):
    """Compiles a module from its source each time: what was compiled before may be older, or somebody else's."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


# The modules of the runner, and of what it brings with it.
RUNNER = ("pytest", "_pytest", "pluggy", "iniconfig", "xdist", "_hypothesis_pytestplugin", "_hypothesis_ftz_detector")
# What these fixtures give to a test would be gone with the runner.
OUTPUT = {"capsys", "capsysbinary", "capfd", "capfdbinary", "capteesys"}
NEEDS_RUNNER = {"pytester", "testdir", "request", "pytestconfig", "recwarn"}


class Plain:
    """While it lasts, the process looks as if there were no test runner in it."""

    def __init__(self, fixtures=()):
        self.fixtures = set(fixtures)

    def __enter__(self):
        import logging

        self.modules = {
            name: module
            for name, module in sys.modules.items()
            if name.partition(".")[0] in RUNNER or name.startswith("pytest_")
        }
        self.finders = [finder for finder in sys.meta_path if type(finder).__module__.startswith("_pytest")]
        self.handlers = [] if "caplog" in self.fixtures else [
            handler for handler in logging.root.handlers if type(handler).__module__.startswith("_pytest")
        ]
        self.variables = {name: os.environ[name] for name in os.environ if name.startswith("PYTEST_")}
        self.argv = list(sys.argv)
        self.streams = None
        if not self.fixtures & OUTPUT:
            self.streams = sys.stdin, sys.stdout, sys.stderr
            sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
        for name in self.modules:
            del sys.modules[name]
        for finder in self.finders:
            sys.meta_path.remove(finder)
        for handler in self.handlers:
            logging.root.removeHandler(handler)
        for name in self.variables:
            del os.environ[name]
        if sys.argv == ["pytest"]:
            sys.argv[:] = ["main.py"]

    def __exit__(self, *error):
        import logging

        sys.modules.update(self.modules)
        sys.meta_path[:0] = [finder for finder in self.finders if finder not in sys.meta_path]
        for handler in self.handlers:
            logging.root.addHandler(handler)
        for name, value in self.variables.items():
            os.environ.setdefault(name, value)
        if sys.argv == ["main.py"]:
            sys.argv[:] = self.argv
        if self.streams is not None and (sys.stdout, sys.stderr) == (sys.__stdout__, sys.__stderr__):
            sys.stdin, sys.stdout, sys.stderr = self.streams


# A test that reads sources, or starts a runner of its own, needs the test files.
NEEDS_SOURCES = re.compile(rb"getsource|getsourcelines|open\(__file__|__file__\)\.(read|open)|pytest\.main|-m.{1,5}pytest")
# What a walk over the project leaves out.
NO_SOURCES = {"node_modules", "site-packages", ".git", ".tdd", ".venv", "venv", ".tox", ".nox"}


def put_away_test_files(root, files, away):
    """Moves the test files of a scratch copy: they are loaded, and production shall not take its answers from them."""
    for file in files:
        with open(file, "rb") as source:
            if NEEDS_SOURCES.search(source.read()):
                return
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in NO_SOURCES]
        for name in names:
            path = os.path.join(folder, name)
            if path in files or re.fullmatch(r"test_.*\.py|.*_test\.py", name):
                place = os.path.join(away, os.path.relpath(path, root))
                os.makedirs(os.path.dirname(place), exist_ok=True)
                shutil.move(path, place)


def put_back_test_files(root, away):
    for folder, _, names in os.walk(away):
        for name in names:
            path = os.path.join(folder, name)
            place = os.path.join(root, os.path.relpath(path, away))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.move(path, place)
    shutil.rmtree(away)


def can_be_repeated(item):
    """Whether nothing sets up or tidies away what the test leaves behind."""
    given = set(getattr(getattr(item, "callspec", None), "params", ()))
    return set(getattr(item, "fixturenames", ["unknown"])) <= given and getattr(item, "cls", None) is None


def hidden(pytest, root, away):
    """Hides the runner from production while a test runs, and lets a test that passes pass again."""

    class Hidden:
        def pytest_collection_finish(self, session):
            put_away_test_files(root, {os.path.realpath(str(item.path)) for item in session.items}, away)

        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_runtest_call(self, item):
            fixtures = getattr(item, "fixturenames", ())
            if not NEEDS_RUNNER.isdisjoint(fixtures):
                yield
                return
            with Plain(fixtures):
                outcome = yield
                if outcome.excinfo is None and can_be_repeated(item):
                    item.runtest()

    return Hidden()


class LoadedPlainly(CompiledAnew):
    """Loads a module as if there were no test runner, unless it imports one."""

    def exec_module(self, module):
        source = self.get_data(self.get_filename(module.__name__))
        if re.search(rb"^\s*(import|from)\s+_?pytest\b", source, re.MULTILINE):
            return super().exec_module(module)
        with Plain():
            return super().exec_module(module)


def only_from_source(root, folder, loader):
    """Lets modules of the project come from their source files, not from compiled files that lie about.

    What is installed comes as it was compiled when it was installed: to compile that anew takes a second or more.
    """
    from _pytest.assertion import rewrite

    finder = importlib.machinery.FileFinder
    loaders = (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES)
    sources = (loader, importlib.machinery.SOURCE_SUFFIXES)
    sys.dont_write_bytecode = True
    if hasattr(rewrite, "get_cache_dir"):
        rewrite.get_cache_dir = lambda path: type(path)(folder + os.path.dirname(os.path.realpath(path)))
    else:
        sys.pycache_prefix = folder

    def hook(path):
        if "site-packages" in path or not (os.path.realpath(path) + os.sep).startswith(root + os.sep):
            raise ImportError
        return finder(path, loaders, sources)

    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()


def own_modules_first(root):
    """Lets modules come from this tree where the project is installed: that leads to another tree, or to a copy."""
    foreign = getattr(sys, "stdlib_module_names", ())
    for folder in ("source", "python", "lib", "src"):
        folder = os.path.join(root, folder)
        names = {name.partition(".")[0] for name in (os.listdir(folder) if os.path.isdir(folder) else ())}
        if any(name.isidentifier() and name not in foreign and found_at(root, name) == "outside" for name in names):
            sys.path.insert(0, folder)


def work(pipe, token, root, options, wanted, done, broken):
    """The child: runs pytest, tells of every event, and ends without letting anybody else speak."""
    import _pytest.runner
    import pytest

    write, dumps, state = os.write, json.dumps, {"at": 0}

    def send(**event):
        state["at"] += 1
        line = dumps([token, state["at"], event]).encode() + b"\n"
        while line:
            line = line[write(pipe, line) :]

    # Whether a test is being run is nothing that production code needs to know.
    _pytest.runner._update_current_test_var = lambda item, when: None
    arguments = ["--rootdir", root, "--confcutdir", root, "-c", configuration(root)]
    # What pytest remembers from run to run is not the project's; its options must be known all the same.
    arguments += ["-o", "cache_dir=" + os.path.join(tempfile.gettempdir(), "pytest-cache")]
    arguments += ["--color=no", "-q", "--continue-on-collection-errors", *options["flags"]]
    if wanted:
        files = sorted({name.split("::", 1)[0] for name in wanted})
        files = [os.path.join(root, file) for file in files if os.path.exists(os.path.join(root, file))]
        if not files:
            send(type="collected", ids=[])
            send(type="end", exit=5)
            os._exit(0)
        arguments += files
    else:
        arguments += options["places"]
    sys.argv[:] = ["pytest"]
    plain = options.get("plain")
    only_from_source(root, os.environ["PYTHONPYCACHEPREFIX"], LoadedPlainly if plain else CompiledAnew)
    watched = options.get("watch")
    if watched:
        # Who else measures would take our place.
        arguments += ["--no-cov"] if importlib.util.find_spec("pytest_cov") else []
        scope = {}
        exec(watched["script"], scope)
        tell = scope["watch"](root, watched["files"])
    sys.path.insert(0, root)
    own_modules_first(root)
    plugins = [reporter(pytest, root, send, wanted, done, broken)] + ([hidden(pytest, root, options["away"])] if plain else [])
    code = pytest.main(arguments, plugins=plugins)
    if watched:
        send(type="watched", **tell())
    send(type="end", exit=int(code))
    os._exit(0)


class Attempt:
    """One child, and what it told."""

    def __init__(self, root, options, wanted, done, broken):
        self.events, self.how = [], None
        self.token = secrets.token_hex(16)
        reading, writing = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            os.close(reading)
            os.setpgid(0, 0)
            try:
                work(writing, self.token, root, options, wanted, done, broken)
            finally:
                os._exit(70)
        os.close(writing)
        self.read(reading, options["timeout"])
        os.close(reading)

    def read(self, reading, limit):
        text, status, last = b"", None, time.monotonic()
        while status is None:
            ready, _, _ = select.select([reading], [], [], 0.02)
            if ready:
                piece = os.read(reading, 1 << 16)
                text += piece
                if b"\n" in piece:
                    last = time.monotonic()
            ended, code = os.waitpid(self.child, os.WNOHANG)
            if ended:
                status = code
            elif time.monotonic() - last > limit:
                self.how = "timeout"
                os.kill(self.child, signal.SIGKILL)
                _, status = os.waitpid(self.child, 0)
        # A process that the tests left behind may hold the pipe open: what is there now is all.
        while select.select([reading], [], [], 0)[0]:
            piece = os.read(reading, 1 << 16)
            if not piece:
                break
            text += piece
        try:
            os.killpg(self.child, signal.SIGKILL)
        except OSError:
            pass
        if self.how is None:
            code = os.waitstatus_to_exitcode(status)
            self.how = "signal %d" % -code if code < 0 else "exit %d" % code
        self.events = list(self.believed(text))

    def believed(self, text):
        expected = 1
        for line in text.split(b"\n"):
            if not line:
                continue
            try:
                token, number, event = json.loads(line)
            except ValueError:
                return
            if token != self.token or number != expected:
                yield {"type": "forged"}
                return
            expected += 1
            yield event


def main():
    options, wanted = json.loads(sys.argv[1]), sys.argv[2:]
    root = os.path.realpath(os.getcwd())
    out = os.dup(1)
    os.set_inheritable(out, False)
    os.dup2(2, 1)
    # For the processes that tests start.
    os.environ["PYTHONPYCACHEPREFIX"] = os.path.join(tempfile.gettempdir(), "pycache")
    os.environ["COVERAGE_FILE"] = os.path.join(tempfile.gettempdir(), "coverage")
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(tempfile.gettempdir(), "hypothesis")
    # Loaded once, before any code of the project can be in its place; children share it.
    import pytest  # noqa: F401

    told, done, broken = [], set(), set()
    for _ in range(RESTARTS):
        options["away"] = tempfile.mkdtemp()
        attempt = Attempt(root, options, set(wanted), done, broken)
        put_back_test_files(root, options["away"])
        flight, collecting, ended = None, None, False
        for event in attempt.events:
            kind = event["type"]
            if kind == "collecting":
                collecting = event["path"]
            elif kind in ("uncollected", "collected"):
                collecting = None
            elif kind == "start":
                flight = event["id"]
            elif kind == "finish":
                flight = None
                done.add(event["id"])
            elif kind == "end":
                ended = flight is None and event["exit"] != 2
        told.extend(attempt.events)
        if ended:
            break
        told.append({"type": "lost", "id": flight, "path": collecting, "how": attempt.how})
        if flight is not None:
            done.add(flight)
        elif collecting is not None:
            broken.add(collecting)
        else:
            break
    line = json.dumps({"complete": True, "events": told}).encode() + b"\n"
    while line:
        line = line[os.write(out, line) :]


main()
