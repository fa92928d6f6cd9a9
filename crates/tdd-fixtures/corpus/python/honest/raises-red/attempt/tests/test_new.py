import pytest

from calc import add


def test_doubles():
    with pytest.raises(TypeError, match="numbers"):
        add("a", "b")
