from calc import add, expect


def test_adds_more():
    expect(add(2, 2), 4)
