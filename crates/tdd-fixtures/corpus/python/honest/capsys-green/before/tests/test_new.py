from calc import show


def test_shows(capsys):
    show(2)
    assert capsys.readouterr().out == "4\n"
