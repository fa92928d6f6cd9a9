"""A small calculator."""

def add(a, b):
    return a + b


def save(store, n):
    pass
