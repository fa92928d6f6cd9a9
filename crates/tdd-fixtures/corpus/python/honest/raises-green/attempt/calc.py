"""A small calculator."""


def add(a, b):
    return a + b


def double(n):
    if n < 0:
        raise ValueError("a negative number")
    return n * 2
