"""A small calculator."""

def add(a, b):
    return a + b


def show(n):
    print(n * 2)
