from shop.cart import total


def test_doubles():
    assert total([4, 4]) == 8
