"""SQLite's sqllogictest corpus on this database, whole or a sample of its queries.

The corpus is no part of the repository. It is looked for in the folder that the environment
variable SLT_CORPUS names, and beside the repository in ../shared/slt.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from pykudu_sql.shell.slt.command import find_scripts, pykudu_driver
from pykudu_sql.shell.slt.database import ScriptDatabase
from pykudu_sql.shell.slt.parser import parse
from pykudu_sql.shell.slt.records import QueryRecord, Record
from pykudu_sql.shell.slt.report import FileResult
from pykudu_sql.shell.slt.runner import ScriptRunner
from pykudu_sql.shell.slt.states import State
from tests.pykudu_sql.corpus.departures import depart

LABELS = frozenset({"mysql"})  # its variants write DIV where they mean integer division
SETTINGS = {"implicit_primary_key": True}
MISSING = "the corpus is not there: set SLT_CORPUS to a folder with select1.test"


@dataclass(frozen=True, slots=True)
class Sample:
    """A part of a script.

    Attributes:
        every: one query of so many.
        others: the script ends behind so many records that are no queries.
    """

    every: int = 1
    others: int = sys.maxsize


WHOLE = Sample()


def corpus() -> Path | None:
    """The folder of the corpus, or None if there is none."""
    named = os.environ.get("SLT_CORPUS")
    beside = Path(__file__).resolve().parents[4] / "shared" / "slt"
    folder = Path(named) if named else beside
    return folder if (folder / "select1.test").is_file() else None


def scripts() -> list[Path]:
    """Every script of the corpus, none if it is not there."""
    folder = corpus()
    return list(find_scripts([folder])) if folder else []


def sample(records: Iterable[Record], part: Sample) -> Iterator[Record]:
    """The beginning of a script with some of its queries, the first among them."""
    queries, others = count(), count()
    for record in records:
        if isinstance(record, QueryRecord):
            if next(queries) % part.every == 0:
                yield record
        elif next(others) < part.others:
            yield record
        else:
            return


def run_script(script: Path, state: State, folder: Path, part: Sample = WHOLE) -> FileResult:
    """Run a script of the corpus.

    Args:
        script: the file.
        state: what happens between its statements.
        folder: where the database goes.
        part: what of it runs.
    """
    records = parse(script.read_text(encoding="utf-8"))
    database = ScriptDatabase(pykudu_driver(), folder, {**SETTINGS, **state.settings})
    runner = ScriptRunner(database, state, LABELS)
    return FileResult(script, state.name, runner.run(list(depart(sample(records, part)))))
