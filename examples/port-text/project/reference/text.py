"""The reference: where the port differs from it, the port is wrong."""


def initials(name):
    """The first letter of every word, in capitals."""
    return "".join(word[0].upper() for word in name.split())


def shorten(text, width):
    """The text, cut to so many characters; the last of them is an ellipsis if anything is cut."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def plural(count, word):
    """A count with its word, which gets an `s` unless the count is one."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
