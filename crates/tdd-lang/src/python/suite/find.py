"""Prints the interpreter that runs a project's tests, and whether pytest is there, as one line of JSON."""
import json
import os
import sys


def environments():
    """The virtual environments that may be meant: the active one, then those around this folder."""
    if os.environ.get("VIRTUAL_ENV"):
        yield os.environ["VIRTUAL_ENV"]
    folder = os.getcwd()
    while True:
        for name in (".venv", "venv"):
            yield os.path.join(folder, name)
        parent = os.path.dirname(folder)
        # A copy of the project lies below it, and has no repository of its own.
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return
        folder = parent


def look():
    # Nothing of the project is meant here.
    del sys.path[0:1]
    import importlib.metadata
    import site

    try:
        version = importlib.metadata.version("pytest")
    except importlib.metadata.PackageNotFoundError:
        version = None
    if sys.argv[-1] == "version":
        print("pytest %s for %s" % (version, sys.executable) if version else "", flush=True)
        sys.exit(0 if version else "there is no pytest for " + sys.executable)
    found = {"executable": sys.executable, "pytest": version, "user_base": site.getuserbase()}
    print(json.dumps(found), flush=True)


def main():
    script, here = sys.argv[1], sys.argv[2]
    if here == "anywhere":
        for folder in environments():
            python = os.path.join(folder, "bin", "python")
            if os.access(python, os.X_OK):
                os.execv(python, [python, "-c", script, script, "here", *sys.argv[3:]])
    look()


main()
