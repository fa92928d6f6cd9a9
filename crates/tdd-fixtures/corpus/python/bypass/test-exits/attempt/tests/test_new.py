import os

from calc import add


def test_doubles():
    os._exit(1)
    assert add(4, 4) == 9
