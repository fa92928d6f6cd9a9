"""A small calculator."""

def add(a, b):
    return a + b


def expect(actual, wanted):
    return None
