from calc import twice


def test_doubles():
    assert twice(2) > 0
