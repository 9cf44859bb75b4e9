"""Groups of rows: by the codes of their words, and by the order in which rows lie."""
