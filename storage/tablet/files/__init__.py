"""The files of a tablet: numbers and paths, staged, opened and retired; flushes of deltas to them.

A file exists once the manifest names it, and goes when nobody reads it. Uses `rowset`.
"""
