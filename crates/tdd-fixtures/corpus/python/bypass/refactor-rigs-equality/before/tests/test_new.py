from calc import Money, double


def test_doubles():
    assert double(Money(4)) == Money(8)
