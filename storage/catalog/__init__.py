"""The tables of one moment and of all moments, and the edits that change them.

Immutable values folded from the manifest. Uses `tablet` for metadata of rowsets only.
"""
