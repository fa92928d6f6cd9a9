from calc import double


# @tdd-test-id: doubles-a-number
def test_doubles():
    assert double(4) == 8
