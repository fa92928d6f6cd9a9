import pytest

from calc import Money


def test_doubles():
    with pytest.raises(TypeError):
        Money(1) + 1
