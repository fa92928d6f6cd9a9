"""Sums."""


def add(a, b):
    """Add two numbers."""
    # Plainly.
    return a + b
