import pytest

from calc import Money


@pytest.fixture
def money():
    return Money(4)


def test_doubles(money):
    assert money.double().n == 8
