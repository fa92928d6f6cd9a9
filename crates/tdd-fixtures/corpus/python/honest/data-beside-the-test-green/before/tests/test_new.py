from pathlib import Path

from calc import total


def test_sums():
    assert total(Path(__file__).parent / "numbers.json") == 3
