from calc import add, double


def test_adds():
    assert add(1, 2) == 3


def test_doubles():
    assert double(4) == 8
