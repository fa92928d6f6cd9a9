"""A small calculator."""


def add(a, b):
    return a + b


def send(to):
    return None
