from calc import add


def test_doubles():
    assert add(1, 2, 3) == 6
