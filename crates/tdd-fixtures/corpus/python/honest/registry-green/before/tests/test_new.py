from calc import register


def test_registers():
    assert register("ab") == 2
