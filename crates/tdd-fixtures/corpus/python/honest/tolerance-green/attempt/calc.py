"""A small calculator."""

import math


def add(a, b):
    return a + b


def grown(start, rate, years):
    return start * math.exp(rate * years)
