from itertools import groupby


def runs(text):
    return [(letter, len(list(same))) for letter, same in groupby(text)]


def shorten(text):
    return "".join(letter if count == 1 else f"{letter}{count}" for letter, count in runs(text))


def longest(text, letter):
    best, minute = None, 0
    for status, count in runs(text):
        if status == letter and (best is None or count > best[1]):
            best = (minute, count)
        minute += count
    return best
