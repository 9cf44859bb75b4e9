"""Options and arguments of all command lines, as completion scripts and as a manual page.

They are read from the parsers themselves (`command_line`); the rest is pure functions of that.
"""
