import pytest

from calc import double

CASES = [
    (1, 2),
    (2, 4),
]


@pytest.mark.parametrize("number, expected", CASES)
def test_doubles(number, expected):
    assert double(number) == expected
