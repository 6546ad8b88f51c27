"""The actions of `pitbox device` for each kind of machine: one module per kind, found by its name.

Each has ACTIONS (name -> what it does), MOVING (the actions that Ctrl-C must stop), `add_arguments(parser)`,
`check(args)`, and `Session(args, screen)` with `take(event)`, `act(driver)` and `stop(driver)`.
"""
