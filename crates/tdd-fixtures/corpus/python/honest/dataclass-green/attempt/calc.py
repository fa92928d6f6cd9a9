from dataclasses import dataclass


def add(a, b):
    return a + b


@dataclass
class Money:
    n: int


def double(money):
    return Money(money.n * 2)
