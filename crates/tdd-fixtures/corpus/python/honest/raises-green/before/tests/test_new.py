import pytest

from calc import double


def test_doubles():
    with pytest.raises(ValueError, match="negative"):
        double(-1)
