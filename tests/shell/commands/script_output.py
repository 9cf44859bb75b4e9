"""All that a session prints of a script, results and errors."""

import io
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path

from pykudu_sql.shell.commands import registry
from pykudu_sql.shell.session import ShellSession
from pykudu_sql.shell.settings import Settings


def output_of(path: Path, script: str, *, safe: bool = False, read_only: bool = False) -> str:
    """Run a script on the database at a path; it runs on after an error."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        session = ShellSession(
            str(path), Settings(), registry.run, safe=safe, read_only=read_only, keep_going=True
        )
        with closing(session):
            session.run_script(script)
    return printed.getvalue()
