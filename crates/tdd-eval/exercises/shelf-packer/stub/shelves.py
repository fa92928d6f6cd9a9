def pack(widths, shelf):
    raise NotImplementedError


def gaps(widths, shelf):
    raise NotImplementedError
