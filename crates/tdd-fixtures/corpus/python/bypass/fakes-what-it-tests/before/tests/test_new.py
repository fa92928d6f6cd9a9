from unittest.mock import patch

import calc


def test_sends():
    with patch.object(calc, "send", return_value="sent"):
        assert calc.send("bob") == "sent"
