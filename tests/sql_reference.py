"""The examples of docs/sql/: run through the shell, their outputs written anew by `make docs`.

A fenced block of `sql` on a page is run; a block of `text` right behind it is what the shell prints
for it, and an empty one is filled. A block without an output must run without an error. The blocks
of a page share one new database, in the order of the page; one whose first line is the comment
`-- session b` runs in a second connection to it. Files that they name are in a new folder. Blocks
without a language (grammar) are not run.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import chdir, closing, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from pykudu_sql.shell.commands import registry
from pykudu_sql.shell.session import ShellSession
from pykudu_sql.shell.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "sql"
_EXAMPLE = re.compile(
    r"^```sql\n(?P<sql>.*?)^```\n(?P<output>\n?```text\n(?P<text>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_SESSION = re.compile(r"-- session (\w+)\n")


class BrokenExample(AssertionError):
    """An example that shows no output fails."""


class Sessions:
    """The shell's sessions of one page, by name, over one database."""

    def __init__(self, path: Path, printed: StringIO) -> None:
        self._path = path
        self._printed = printed
        self._sessions: dict[str, ShellSession] = {}

    def run(self, sql: str) -> tuple[str, bool]:
        """What the shell prints for statements, and whether all of them succeeded."""
        name = _SESSION.match(sql)
        session = self._session(name[1] if name else "")
        failures = session.failures
        self._printed.seek(0)
        self._printed.truncate()
        session.run_script(sql)
        return self._printed.getvalue(), session.failures == failures

    def close(self) -> None:
        """Close every connection."""
        for session in self._sessions.values():
            session.close()

    def _session(self, name: str) -> ShellSession:
        if name not in self._sessions:
            self._sessions[name] = ShellSession(
                str(self._path), Settings(), registry.run, keep_going=True
            )
        return self._sessions[name]


@contextmanager
def _sessions() -> Iterator[Sessions]:
    printed = StringIO()
    with (
        TemporaryDirectory() as folder,
        chdir(folder),
        redirect_stdout(printed),
        redirect_stderr(printed),
        closing(Sessions(Path(folder) / "page.db", printed)) as sessions,
    ):
        yield sessions


def rebuilt(page: str) -> str:
    """A page with the outputs of its examples written anew.

    Raises:
        BrokenExample: an example without an output fails.
    """
    with _sessions() as sessions:
        return _EXAMPLE.sub(lambda example: _with_output(example, sessions), page)


def _with_output(example: re.Match[str], sessions: Sessions) -> str:
    sql = example["sql"]
    output, is_successful = sessions.run(sql)
    if example["output"] is not None:
        return f"```sql\n{sql}```\n\n```text\n{output.rstrip()}\n```\n"
    if not is_successful:
        raise BrokenExample(f"{sql}\n{output}")
    return example[0]


def main() -> int:
    """Write all pages anew."""
    for path in sorted(PAGES.glob("*.md")):
        path.write_text(rebuilt(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
