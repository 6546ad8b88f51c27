"""The physical world: cards with exactly one place each, and the mechanics that move them. Knows no bytes."""
