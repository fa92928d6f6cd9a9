import os

from calc import configure


def test_configures(monkeypatch):
    monkeypatch.delenv("SIZE", raising=False)
    configure("SIZE", 9)
    assert os.environ["SIZE"] == "9"
