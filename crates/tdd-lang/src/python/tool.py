import ast, os, shutil, subprocess, sys
task, rest = sys.argv[1], sys.argv[2:]

def tool(name):
    folder, places = os.getcwd(), []
    if os.environ.get("VIRTUAL_ENV"):
        places.append(os.environ["VIRTUAL_ENV"])
    while True:
        places += [os.path.join(folder, ".venv"), os.path.join(folder, "venv")]
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            break
        folder = parent
    found = (os.path.join(place, "bin", name) for place in places)
    return next((path for path in found if os.access(path, os.X_OK)), None) or shutil.which(name)

def run(*argv):
    sys.exit(subprocess.call(argv))

def configured():
    """Whether the project says what ruff is to look for; else errors are enough."""
    if os.path.exists("ruff.toml") or os.path.exists(".ruff.toml"):
        return True
    try:
        with open("pyproject.toml", encoding="utf-8") as file:
            return "[tool.ruff" in file.read()
    except OSError:
        return False

def parses(path):
    try:
        with open(path, "rb") as file:
            ast.parse(file.read(), path)
        return True
    except (SyntaxError, ValueError) as error:
        print("error: %s:%s: %s" % (path, getattr(error, "lineno", 1), error), file=sys.stderr)
        return False

ruff, black = tool("ruff"), tool("black")
if task == "version":
    path = tool(rest[0]) or sys.exit("it is neither in a virtual environment here nor in the path")
    run(path, "--version")
elif task == "format":
    if ruff:
        run(ruff, "format", "--no-cache", "--quiet", "--", *rest)
    elif black:
        run(black, "--quiet", "--", *rest)
elif ruff:
    rules = [] if configured() else ["--isolated", "--select", "E9,F63,F7,F82"]
    argv = [ruff, "check", "--no-cache", "--output-format=concise", *rules, "."]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        print("error: " + line if line[-1:] not in ".!" else line, file=sys.stderr)
    sys.exit(done.returncode)
else:
    fine = True
    for folder, folders, files in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in ("venv", "node_modules", "build", "dist")]
        fine &= all([parses(os.path.relpath(os.path.join(folder, name))) for name in files if name.endswith(".py")])
    sys.exit(0 if fine else 1)
