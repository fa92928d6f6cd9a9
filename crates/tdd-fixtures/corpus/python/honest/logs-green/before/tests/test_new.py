from calc import double


def test_doubles(caplog):
    assert double(4) == 8
    assert "doubles 4" in caplog.text
