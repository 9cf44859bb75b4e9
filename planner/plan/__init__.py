"""Plans: what the planner hands to the executor, as frozen values.

Built by the rooms that read statements, run by the executor. They know storage's values, and no
parser.
"""
