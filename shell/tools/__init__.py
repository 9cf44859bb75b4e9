"""Subcommands that are no shell: check, inspect, load, export, backup, restore, changes.

Each reads its arguments and calls one function of the face. Uses `output`.
"""
