from calc import save


def test_saves():
    store = [3]
    save(store, 3)
    assert store[-1] == 3
