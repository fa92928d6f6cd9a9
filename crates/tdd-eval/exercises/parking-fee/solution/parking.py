DAY = 24 * 60


def fee(minutes):
    if minutes < 0:
        raise ValueError("a stay cannot be shorter than nothing")
    if minutes <= 20:
        return 0
    days, rest = divmod(minutes, DAY)
    hours = -(-rest // 60)
    return days * 1200 + min(hours * 150, 1200)
