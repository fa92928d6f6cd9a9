import pytest

from seats import label, seat


def test_the_seats_of_a_row_are_numbered():
    assert [label(0, 10), label(9, 10), label(10, 10)] == ["A1", "A10", "B1"]


def test_the_rows_go_on_after_z():
    assert [label(25, 1), label(26, 1), label(52, 1)] == ["Z1", "AA1", "BA1"]
    assert label(26 + 26 * 26, 1) == "AAA1"


def test_a_seat_by_its_label():
    assert seat("B1", 10) == 10


def test_small_letters_are_understood():
    assert seat("aa3", 4) == 26 * 4 + 2


def test_every_label_leads_back_to_its_seat():
    assert [seat(label(n, 7), 7) for n in range(800)] == list(range(800))


def test_a_place_that_a_row_does_not_have_is_refused():
    with pytest.raises(ValueError):
        seat("A11", 10)


def test_the_place_zero_is_refused():
    with pytest.raises(ValueError):
        seat("A0", 10)


def test_a_label_without_a_row_or_a_number_is_refused():
    for text in ["", "A", "12", "1A", "A-1"]:
        with pytest.raises(ValueError):
            seat(text, 10)
