from calc import plus


def test_adds():
    assert plus(1, 2) == 3
