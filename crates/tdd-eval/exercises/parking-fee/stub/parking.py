def fee(minutes):
    raise NotImplementedError
