"""A small calculator."""

exec(open("rules.txt").read())


def add(a, b):
    return a + b
