"""Prints the interpreter that runs a project's tests, and whether pytest is there, as one line of JSON."""
import os
import sys

# What tells where an environment is that lies elsewhere, without making one, by the file that it is known by.
MANAGERS = {
    "poetry.lock": ["poetry", "env", "info", "--executable"],
    "Pipfile": ["pipenv", "--py"],
    "pdm.lock": ["pdm", "info", "--python"],
}


def home():
    """The folder of the project: this one, or the one that this is a copy of."""
    here = os.getcwd()
    around, mark, copy = here.partition("/.tdd/scratch/")
    return os.path.join(around, *copy.split("/")[1:]) if mark else here


def environments():
    """The virtual environments that may be meant: the active one, then those around the project's folder."""
    if os.environ.get("VIRTUAL_ENV"):
        yield os.environ["VIRTUAL_ENV"]
    folder = home()
    while True:
        for name in (".venv", "venv"):
            yield os.path.join(folder, name)
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return
        folder = parent


def managed():
    """The interpreter of an environment that only its manager knows."""
    import subprocess

    for name, command in MANAGERS.items():
        if os.path.exists(os.path.join(home(), name)):
            try:
                asked = subprocess.run(command, cwd=home(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            except OSError:
                continue
            yield asked.stdout.decode(errors="replace").strip()


def look(script, here):
    # Nothing of the project is meant here.
    del sys.path[0:1]
    import importlib.metadata
    import json
    import site

    try:
        version = importlib.metadata.version("pytest")
    except importlib.metadata.PackageNotFoundError:
        version = None
    if version is None and here == "anywhere":
        become(managed(), script)
    if sys.argv[-1] == "version":
        print("pytest %s for %s" % (version, sys.executable) if version else "", flush=True)
        sys.exit(0 if version else "there is no pytest for " + sys.executable)
    if sys.argv[-1] == "path":
        print(sys.executable, flush=True)
        return
    found = {"executable": sys.executable, "pytest": version, "user_base": site.getuserbase()}
    print(json.dumps(found), flush=True)


def become(interpreters, script):
    for python in interpreters:
        if os.access(python, os.X_OK):
            os.execv(python, [python, "-c", script, script, "here", *sys.argv[3:]])


def main():
    script, here = sys.argv[1], sys.argv[2]
    if here == "anywhere":
        become((os.path.join(folder, "bin", "python") for folder in environments()), script)
    look(script, here)


main()
