"""The command line: shell, printer and script runner over the face of the database.

Imports only `pykudu_sql` itself and prompt_toolkit, the latter for the interactive part alone.
"""
