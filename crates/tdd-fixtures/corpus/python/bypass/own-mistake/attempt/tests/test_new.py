from calc import add


def test_doubles():
    wanted = int("eight")
    assert add(4, 4) == wanted
