"""Decoded rows of a CFile in the block cache, and where they are NULL (see `decoded_blocks`)."""
