from calc import double


def test_doubles():
    for n, expected in [(0, 0), (4, 8)]:
        assert double(n) == expected
