"""A small calculator."""


def add(a, b):
    return a + b


def double(n):
    with open("notes.txt", "w") as file:
        file.write("x")
    return n * 2
