"""Rows on their way in: complete, valid, routed to tablets; bulk rowsets, counters, staged files.

Everything that writes rows goes through here. Uses `catalog` and `tablet`.
"""
