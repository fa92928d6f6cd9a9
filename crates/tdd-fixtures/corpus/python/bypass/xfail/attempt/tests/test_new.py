import pytest

from calc import add


@pytest.mark.xfail
def test_doubles():
    assert add(4, 4) == 9
