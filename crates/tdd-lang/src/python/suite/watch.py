"""Sees which lines of some files of a project are executed in this process."""
import ast
import dis
import os
import sys
import threading


def watch(root, files):
    """Begins to watch these files. Gives a function that tells what was seen, and why that may not be all."""
    seen = {os.path.join(root, file): set() for file in files}
    known, realpath = {}, os.path.realpath

    def lines_of(code):
        name = code.co_filename
        if name not in known:
            known[name] = seen.get(realpath(name))
        return known[name]

    is_whole = monitored(lines_of) if hasattr(sys, "monitoring") else traced(lines_of)

    def tell():
        doubt = None if is_whole() else "something else in the tests watches what they execute"
        stop()
        told = {}
        for file in files:
            path = os.path.join(root, file)
            try:
                told[file] = [[line, line in seen[path]] for line in sorted(code_lines(path))]
            except (OSError, SyntaxError, ValueError):
                pass
        return {"lines": told, "doubt": doubt}

    return tell


def monitored(lines_of):
    """For Python 3.12 and later: each line is told of once, in all threads."""
    monitoring = sys.monitoring
    tool = next(tool for tool in (1, 3, 4, 0, 2, 5) if monitoring.get_tool(tool) is None)

    def saw(code, line):
        lines = lines_of(code)
        if lines is not None:
            lines.add(line)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "tdd")
    monitoring.register_callback(tool, monitoring.events.LINE, saw)
    monitoring.set_events(tool, monitoring.events.LINE)
    return lambda: monitoring.get_tool(tool) == "tdd" and monitoring.get_events(tool) == monitoring.events.LINE


def traced(lines_of):
    tracers = {}

    def tracer(lines):
        def saw(frame, event, argument):
            if event == "line":
                lines.add(frame.f_lineno)
            return saw

        return saw

    def entered(frame, event, argument):
        name = frame.f_code.co_filename
        if name not in tracers:
            lines = lines_of(frame.f_code)
            tracers[name] = None if lines is None else tracer(lines)
        return tracers[name]

    threading.settrace(entered)
    sys.settrace(entered)
    return lambda: sys.gettrace() is entered


def stop():
    if not hasattr(sys, "monitoring"):
        sys.settrace(None)
        threading.settrace(None)


def code_lines(path):
    """The lines of a file on which something can happen."""
    with open(path, "rb") as file:
        source = file.read()
    nothing = set()
    for node in ast.walk(ast.parse(source)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Pass) or is_text:
            nothing.update(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for part in node.body:
                nothing.update(range(part.lineno, part.end_lineno + 1))
    found, codes = set(), [compile(source, path, "exec")]
    while codes:
        code = codes.pop()
        codes.extend(constant for constant in code.co_consts if hasattr(constant, "co_code"))
        # Where a function begins, nothing of it is executed: that line belongs to what is around it.
        first = None if code.co_name == "<module>" else code.co_firstlineno
        found.update(line for _, line in dis.findlinestarts(code) if line and line != first)
    return found - nothing
