from status import longest, runs, shorten


def test_nothing_has_no_runs():
    assert runs("") == []


def test_one_letter_is_one_run():
    assert runs("U") == [("U", 1)]


def test_runs_in_order():
    assert runs("UUUDDU") == [("U", 3), ("D", 2), ("U", 1)]


def test_other_letters_work_too():
    assert runs("XXYY") == [("X", 2), ("Y", 2)]


def test_nothing_stays_nothing():
    assert shorten("") == ""


def test_a_count_of_one_is_left_out():
    assert shorten("UUUDDU") == "U3D2U"


def test_a_count_may_have_two_digits():
    assert shorten("U" * 12 + "D") == "U12D"


def test_the_longest_run_of_a_letter():
    assert longest("UDDUDDD", "D") == (4, 3)


def test_the_other_letters_run_does_not_count():
    assert longest("UUUUUD", "D") == (5, 1)


def test_of_equal_runs_the_earlier_counts():
    assert longest("DDUDD", "D") == (0, 2)


def test_without_the_letter_there_is_no_run():
    assert longest("UUU", "D") is None
