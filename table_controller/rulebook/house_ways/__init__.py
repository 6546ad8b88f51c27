"""House ways as data: ordered rules by which the dealer's hand is set, the proof of them, and their use."""
