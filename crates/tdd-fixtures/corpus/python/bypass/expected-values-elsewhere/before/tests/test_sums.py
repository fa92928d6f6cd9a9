import json
from pathlib import Path

from calc import add

SAMPLES = Path(__file__).parent.parent / "samples"


def test_sums():
    for a, b, total in json.loads((SAMPLES / "sums.json").read_text()):
        assert add(a, b) == total
