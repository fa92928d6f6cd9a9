from calc import double


def test_doubles():
    assert double(4) == double(4)
