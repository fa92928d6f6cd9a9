def test_doubles(:
    assert 1
