import pytest

from parking import fee


def test_no_time_is_free():
    assert fee(0) == 0


def test_the_first_minutes_are_free():
    assert fee(20) == 0


def test_after_the_free_minutes_the_first_hour_counts():
    assert fee(21) == 150


def test_a_full_hour_is_one_hour():
    assert fee(60) == 150


def test_an_hour_that_has_begun_counts():
    assert fee(61) == 300


def test_eight_hours_reach_the_limit():
    assert fee(8 * 60) == 1200


def test_a_day_costs_no_more_than_the_limit():
    assert fee(10 * 60) == 1200


def test_a_whole_day_costs_the_limit():
    assert fee(24 * 60) == 1200


def test_the_second_day_has_no_free_minutes():
    assert fee(24 * 60 + 5) == 1350


def test_the_second_day_has_its_own_limit():
    assert fee(2 * 24 * 60 - 1) == 2400


def test_three_days_and_two_hours():
    assert fee(3 * 24 * 60 + 120) == 3900


def test_a_negative_stay_is_refused():
    with pytest.raises(ValueError):
        fee(-1)
