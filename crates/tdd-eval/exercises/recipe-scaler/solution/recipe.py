import re
from fractions import Fraction

AMOUNT = re.compile(r"(?:(\d+) )?(\d+/\d+) (.*)|(\d+) (.*)")


def scale(recipe, servings, wanted):
    if servings <= 0 or wanted <= 0:
        raise ValueError("a recipe is for at least one person")
    return "\n".join(scaled(line, Fraction(wanted, servings)) for line in recipe.split("\n"))


def scaled(line, factor):
    found = AMOUNT.fullmatch(line)
    if not found:
        return line
    whole, fraction, rest, number, other = found.groups()
    if number is not None:
        return f"{written(Fraction(number) * factor)} {other}"
    return f"{written((Fraction(whole or 0) + Fraction(fraction)) * factor)} {rest}"


def written(amount):
    whole, rest = divmod(amount, 1)
    if rest == 0:
        return str(whole)
    return f"{whole} {rest}" if whole else str(rest)
