"""What the command lines of the package take, for shells and for `man`.

Read off the parsers themselves (`command_line`); the rest is pure functions of that.
"""
