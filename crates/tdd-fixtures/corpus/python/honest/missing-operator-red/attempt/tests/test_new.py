from calc import Money


def test_doubles():
    total = Money(4) + Money(4)
    assert total.n == 8
