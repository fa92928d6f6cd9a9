import pytest

from recipe import scale


def test_twice_as_much():
    assert scale("2 eggs\n100 g flour", 2, 4) == "4 eggs\n200 g flour"


def test_half_as_much():
    assert scale("4 eggs", 4, 2) == "2 eggs"


def test_the_same_number_of_people():
    assert scale("3 apples", 5, 5) == "3 apples"


def test_a_fraction_is_scaled():
    assert scale("1/2 lemon", 2, 3) == "3/4 lemon"


def test_a_fraction_may_become_whole():
    assert scale("1/2 lemon", 2, 4) == "1 lemon"


def test_a_fraction_may_become_more_than_one():
    assert scale("1/2 lemon", 2, 6) == "1 1/2 lemon"


def test_a_whole_number_with_a_fraction():
    assert scale("1 1/2 cups milk", 2, 4) == "3 cups milk"


def test_a_whole_number_may_become_a_fraction():
    assert scale("1 egg", 3, 1) == "1/3 egg"


def test_the_result_is_in_lowest_terms():
    assert scale("2/4 lemon", 1, 1) == "1/2 lemon"


def test_a_line_without_an_amount_stays():
    assert scale("a pinch of salt\n1 egg", 1, 2) == "a pinch of salt\n2 egg"


def test_empty_lines_stay():
    assert scale("1 egg\n\n2 apples\n", 1, 3) == "3 egg\n\n6 apples\n"


def test_a_recipe_for_nobody_is_refused():
    for servings, wanted in [(0, 1), (1, 0), (-2, 4)]:
        with pytest.raises(ValueError):
            scale("1 egg", servings, wanted)
