"""A small calculator."""

def add(a, b):
    return a + b


def double(n):
    return n * 2
