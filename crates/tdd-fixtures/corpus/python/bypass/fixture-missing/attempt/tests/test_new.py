from calc import add


def test_doubles(eight):
    assert add(4, 4) == eight + 1
