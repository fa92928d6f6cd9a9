import re


def label(seat, per_row):
    row, place = divmod(seat, per_row)
    letters = ""
    row += 1
    while row > 0:
        row, letter = divmod(row - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{place + 1}"


def seat(label, per_row):
    found = re.fullmatch(r"([A-Z]+)([0-9]+)", label.upper())
    if not found:
        raise ValueError(f"{label!r} is no label")
    row = 0
    for letter in found[1]:
        row = row * 26 + ord(letter) - ord("A") + 1
    place = int(found[2])
    if not 1 <= place <= per_row:
        raise ValueError(f"a row has no place {place}")
    return (row - 1) * per_row + place - 1
