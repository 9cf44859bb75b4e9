"""Plans into effects: one file for each family of plans."""
