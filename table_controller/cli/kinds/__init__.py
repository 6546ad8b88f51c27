"""What `pitbox device` can do with each kind of machine: one module a kind, found by its name.

Each has ACTIONS (name -> what it does), MOVING (the actions that Ctrl-C must stop), `add_arguments(parser)`,
`check(args)`, and `Session(args, screen)` with `take(event)`, `act(driver)` and `stop(driver)`.
"""
