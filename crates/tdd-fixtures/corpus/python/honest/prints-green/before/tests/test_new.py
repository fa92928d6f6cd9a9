from calc import show


def test_doubles(capsys):
    show(8)
    assert capsys.readouterr().out == "8\n"
