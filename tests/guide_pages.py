"""The examples of the tutorial, of docs/index.md, docs/storage.md and docs/howto/.

They are run in order, and `make docs` writes their outputs anew. The fenced blocks of a page share
one new folder. A block of `sql` is run by the shell on the database `my.db` there, one of `sh` by
bash, one of `python` in a namespace of the page; a block of `text` right behind it is what it
prints, and an empty one is filled. A block without an output must succeed. What differs from run to
run (moments, durations) is not compared. Blocks of other languages, such as `console`, are not run.
"""

import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import chdir, closing, redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from pykudu_sql.shell.commands import registry
from pykudu_sql.shell.session import ShellSession
from pykudu_sql.shell.settings import Settings
from tests.sql_reference import ROOT, BrokenExample

PAGES = tuple(ROOT / "docs" / name for name in ("index.md", "tutorial.md", "storage.md"))
RECIPES = ROOT / "docs" / "howto"
DATABASE = "my.db"
_EXAMPLE = re.compile(
    r"^```(?P<language>sql|sh|python)\n(?P<code>.*?)^```\n"
    r"(?P<output>\n?```text\n(?P<text>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_VARYING = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}"), "MOMENT"),
    (re.compile(r"\b[\d.]+ (ms|s)\b"), "DURATION"),
    (re.compile(r"[\d,]+ (bytes?|rows?/s|rows? stored)"), "COST"),
    (re.compile(r"[\d,]+ (of \d+ )?files?( new: [\d,]+ rows?)?"), "FILES"),
)


def pages() -> Iterator[Path]:
    """The first page, the tutorial, the explanation of the storage, and the recipes."""
    yield from PAGES
    yield from sorted(RECIPES.glob("*.md"))


def rebuilt(page: str) -> str:
    """A page with the outputs of its examples written anew, where they say something else.

    Raises:
        BrokenExample: an example without an output fails.
    """
    namespace: dict[str, object] = {"__name__": "__page__"}
    with TemporaryDirectory() as folder, chdir(folder):
        runners: dict[str, Callable[[str], tuple[str, bool]]] = {
            "sql": _in_the_shell,
            "sh": _in_bash,
            "python": partial(_in_python, namespace=namespace),
        }
        return _EXAMPLE.sub(lambda example: _with_output(example, runners), page)


def _with_output(
    example: re.Match[str], runners: dict[str, Callable[[str], tuple[str, bool]]]
) -> str:
    language, code = example["language"], example["code"]
    output, is_successful = runners[language](code)
    if example["output"] is None:
        if not is_successful:
            raise BrokenExample(f"{code}\n{output}")
        return example[0]
    output = output.replace(str(Path.cwd()), "/data").rstrip() + "\n"
    if _compared(output) == _compared(example["text"]):
        return example[0]
    return f"```{language}\n{code}```\n\n```text\n{output}```\n"


def _compared(text: str) -> str:
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text


def _in_the_shell(sql: str) -> tuple[str, bool]:
    printed = StringIO()
    with (
        redirect_stdout(printed),
        redirect_stderr(printed),
        closing(ShellSession(DATABASE, Settings(), registry.run, keep_going=True)) as session,
    ):
        session.run_script(sql)
        return printed.getvalue(), session.failures == 0


def _in_bash(commands: str) -> tuple[str, bool]:
    python = f'"{sys.executable}"'
    functions = f'pykudu-sql() {{ {python} -m pykudu_sql "$@"; }}\npython() {{ {python} "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-c", f"set -e\n{functions}{commands}"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout, done.returncode == 0


def _in_python(code: str, namespace: dict[str, object]) -> tuple[str, bool]:
    printed = StringIO()
    with redirect_stdout(printed):
        try:
            exec(compile(code, "example", "exec"), namespace)
        except Exception:
            return printed.getvalue() + traceback.format_exc(), False
    return printed.getvalue(), True


def main() -> int:
    """Write all pages anew."""
    for path in pages():
        path.write_text(rebuilt(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
