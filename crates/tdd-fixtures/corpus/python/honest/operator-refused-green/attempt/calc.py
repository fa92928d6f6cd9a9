"""A small calculator."""


def add(a, b):
    return a + b


class Money:
    def __init__(self, n):
        self.n = n

    def __add__(self, other):
        return Money(self.n + other.n) if isinstance(other, Money) else NotImplemented
