import pytest

from calc import double


@pytest.fixture
def factor(tmp_path, monkeypatch):
    monkeypatch.setenv("FACTOR", "2")
    (tmp_path / "a").write_text("2")
    yield int((tmp_path / "a").read_text())


@pytest.mark.parametrize("n", [1, pytest.param(2, id="two")])
def test_doubles(n, factor):
    assert double(n) == pytest.approx(n * factor)
