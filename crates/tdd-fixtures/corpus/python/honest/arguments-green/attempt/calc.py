"""A small calculator."""

import os
import sys


def add(a, b):
    return a + b


def double():
    return int(sys.argv[1]) * int(os.environ.get("FACTOR", "1"))
