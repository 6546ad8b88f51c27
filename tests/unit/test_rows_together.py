def checks(game):
    return []
