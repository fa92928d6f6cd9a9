from calc import double


def test_doubles():
    double(4)
    assert False
