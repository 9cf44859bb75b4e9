"""Commands of the shell: a dot and a word, or a backslash and a letter for those who know psql.

Each command is one function under a decorator that gives its names, its arguments and its help.
`registry.COMMANDS` lists them in the order `.help` shows. They use the session and its output.
"""
