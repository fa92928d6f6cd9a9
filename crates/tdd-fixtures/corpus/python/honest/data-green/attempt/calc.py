"""A small calculator."""

import json
from pathlib import Path

RATES = json.loads((Path(__file__).parent / "rates.json").read_text())


def add(a, b):
    return a + b


def double(n):
    return RATES["twice"] * n
