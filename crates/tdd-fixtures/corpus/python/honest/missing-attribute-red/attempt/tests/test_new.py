import calc


def test_doubles():
    assert calc.double(4) == 8
