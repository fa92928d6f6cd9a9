import json.nothing

from calc import add


def test_doubles():
    assert add(4, 4) == 9
