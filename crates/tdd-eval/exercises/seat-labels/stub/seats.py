def label(seat, per_row):
    raise NotImplementedError


def seat(label, per_row):
    raise NotImplementedError
