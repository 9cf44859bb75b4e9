"""Single cells of large blocks, by the pages that they take (see `cell_in_place`)."""
