"""The parser of every command line of ours.

What it prints may hold words of the command line, and a name of a file can hold anything: escape
sequences are spelled out, as everywhere in the shell.
"""

import argparse
from typing import NoReturn

from pykudu_sql.shell.output.display import escape


class ArgumentParser(argparse.ArgumentParser):
    """argparse's parser, without abbreviations, whose errors can be shown on a terminal."""

    def __init__(self, prog: str, description: str, **options: object) -> None:
        """See `argparse.ArgumentParser`."""
        super().__init__(prog, description=description, allow_abbrev=False, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and leave with exit code 2."""
        super().error(escape(message))
