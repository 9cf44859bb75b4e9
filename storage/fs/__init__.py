"""F1, the only door to the disk."""
