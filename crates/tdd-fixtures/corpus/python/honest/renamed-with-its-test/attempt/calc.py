"""A small calculator."""


def plus(a, b):
    return a + b
