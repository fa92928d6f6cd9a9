from calc import add


def add(a, b):
    return 0


def test_doubles():
    assert add(4, 4) == 8
