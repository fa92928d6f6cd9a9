import pytest

from shelves import gaps, pack


def test_no_books_need_no_shelf():
    assert pack([], 100) == []


def test_one_book():
    assert pack([30], 100) == [[30]]


def test_books_share_a_shelf():
    assert pack([30, 40], 100) == [[30, 40]]


def test_a_shelf_may_be_full():
    assert pack([60, 40, 10], 100) == [[60, 40], [10]]


def test_the_next_shelf_begins_when_a_book_does_not_fit():
    assert pack([60, 50, 40], 100) == [[60], [50, 40]]


def test_no_book_goes_back():
    assert pack([60, 50, 30, 40], 100) == [[60], [50, 30], [40]]


def test_a_book_as_wide_as_the_shelf():
    assert pack([100, 100], 100) == [[100], [100]]


def test_a_book_that_is_too_wide_is_refused():
    with pytest.raises(ValueError):
        pack([20, 101], 100)


def test_a_book_without_width_is_refused():
    with pytest.raises(ValueError):
        pack([0], 100)


def test_the_gaps_of_the_shelves():
    assert gaps([60, 50, 40], 100) == [40, 10]


def test_a_full_shelf_has_no_gap():
    assert gaps([100, 1], 100) == [0, 99]


def test_without_shelves_there_are_no_gaps():
    assert gaps([], 50) == []
