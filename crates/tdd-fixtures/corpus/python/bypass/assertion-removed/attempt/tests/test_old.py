from calc import add


def test_adds():
    add(1, 2)
