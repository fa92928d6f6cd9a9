def add(a, b):
    total = a
    total += b
    return total
