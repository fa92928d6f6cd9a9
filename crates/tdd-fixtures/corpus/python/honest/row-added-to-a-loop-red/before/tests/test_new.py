from calc import double

CASES = [
    (1, 2),
    (2, 4),
]


def test_doubles():
    for number, expected in CASES:
        assert double(number) == expected
