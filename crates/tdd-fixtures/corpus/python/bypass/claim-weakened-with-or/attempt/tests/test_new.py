from calc import twice


def test_doubles():
    assert twice(2) > 9 or twice(2) > 8
