def scale(recipe, servings, wanted):
    raise NotImplementedError
