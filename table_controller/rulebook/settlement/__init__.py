"""What every wager of a round wins, loses or gets back, by clause, in the order of the regulation."""
