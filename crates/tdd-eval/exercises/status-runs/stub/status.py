def runs(text):
    raise NotImplementedError


def shorten(text):
    raise NotImplementedError


def longest(text, letter):
    raise NotImplementedError
