import pytest

from calc import double


@pytest.mark.parametrize("n, twice", [(1, 2), (2, 4)])
def test_doubles(n, twice):
    assert double(n) == twice
