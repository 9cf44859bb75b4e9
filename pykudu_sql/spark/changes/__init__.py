"""The change feed: changes between two moments, once or as a stream. Uses `reading`."""
