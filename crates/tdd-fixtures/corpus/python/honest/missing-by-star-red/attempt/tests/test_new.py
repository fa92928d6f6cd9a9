from calc import *


def test_doubles():
    assert double(4) == 8
