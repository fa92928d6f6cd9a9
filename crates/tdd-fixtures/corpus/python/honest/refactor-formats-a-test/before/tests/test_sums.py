from calc import add


def test_sums():
    total = add(add(1, 2), add(3, 4))
    assert total == 10, 'no'
