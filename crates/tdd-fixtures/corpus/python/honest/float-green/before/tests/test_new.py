import pytest

from calc import third


def test_doubles():
    assert third(1) == pytest.approx(0.333, abs=0.01)
