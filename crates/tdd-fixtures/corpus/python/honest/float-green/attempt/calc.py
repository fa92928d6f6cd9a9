"""A small calculator."""


def add(a, b):
    return a + b


def third(n):
    return n / 3
