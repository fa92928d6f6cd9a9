import pytest

from calc import grown


def test_grows():
    assert grown(1000, 0.05, 10) == pytest.approx(1648.7, rel=1e-3)
