def checks():
    return []
