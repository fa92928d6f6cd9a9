"""A small calculator."""

import logging


def add(a, b):
    return a + b


def double(n):
    logging.warning("doubles %s", n)
    return n * 2
