from calc import double


def test_doubles():
    answer = double([1, 2])
    assert answer[0] == 2
