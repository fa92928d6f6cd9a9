from calc import Money


def test_doubles():
    assert Money(4).double().n == 8
