"""One connection's way through the house: its statements, their cached plans, its frames.

Sees the executor and all below it; `dbapi` and the jobs see `session.session` alone.
"""
