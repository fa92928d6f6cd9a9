collect_ignore = ["test_old.py"]
