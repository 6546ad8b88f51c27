"""The checks of `pitbox doctor`. They only read: they repair nothing and move no machine."""
