import sys

import pytest

from calc import double


def test_doubles(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["calc", "4"])
    monkeypatch.setenv("FACTOR", "2")
    assert double() == 8
    with pytest.raises(ValueError):
        monkeypatch.setattr(sys, "argv", ["calc", "x"])
        double()
