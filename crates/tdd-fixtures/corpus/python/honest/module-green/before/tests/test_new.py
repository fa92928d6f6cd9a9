import doubling


def test_doubles():
    assert doubling.double(4) == 8
