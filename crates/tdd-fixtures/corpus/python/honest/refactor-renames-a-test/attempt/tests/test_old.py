from calc import add


def test_adds_two_numbers():
    assert add(1, 2) == 3
