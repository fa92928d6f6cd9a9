from calc import kind


def test_kinds():
    cases = {
        "even": [2, 4],
        "even": [],
        "odd": [1],
    }
    for expected, numbers in cases.items():
        for number in numbers:
            assert kind(number) == expected
