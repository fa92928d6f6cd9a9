def pack(widths, shelf):
    shelves = []
    for width in widths:
        if not 0 < width <= shelf:
            raise ValueError(f"a book of {width} does not fit on a shelf of {shelf}")
        if not shelves or sum(shelves[-1]) + width > shelf:
            shelves.append([])
        shelves[-1].append(width)
    return shelves


def gaps(widths, shelf):
    return [shelf - sum(books) for books in pack(widths, shelf)]
