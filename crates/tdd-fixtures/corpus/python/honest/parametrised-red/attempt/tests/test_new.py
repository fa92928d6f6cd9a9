import pytest

from calc import double


@pytest.mark.parametrize("n, expected", [(0, 0), (4, 8)])
def test_doubles(n, expected):
    assert double(n) == expected
