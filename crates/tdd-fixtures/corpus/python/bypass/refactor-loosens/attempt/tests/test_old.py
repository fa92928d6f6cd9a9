from calc import add


def test_adds():
    assert add(1, 2) >= 3
