from calc import add


def test_doubles():
    wanted = eight
    assert add(4, 4) == wanted
