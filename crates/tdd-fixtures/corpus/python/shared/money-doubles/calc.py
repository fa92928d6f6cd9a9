"""A small calculator."""


def add(a, b):
    return a + b


class Money:
    def __init__(self, n):
        self.n = n

    def double(self):
        return Money(self.n * 2)
