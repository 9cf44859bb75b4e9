"""Plans: the planner's output and the executor's input, as frozen values.

Built by the rooms that read statements, run by the executor. They know `operands` and
storage's values, and no parser.
"""
