"""Rows of files that are not loaded: which they are, where they stand, and why.

As a file of JSON lines, in the order of the files:

    {"file": "/data/in.csv", "line": 17, "reason": "column 'id': 'x' is no INT", "row": "{..}"}

`line` is that of a text; `row_number`, from 1, counts the rows of other files, and of text where
lines cannot be determined.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from pykudu_sql.files.source_lines import lines_of
from pykudu_sql.jobs.key_check import PRESENT, TWICE, misplaced_keys
from pykudu_sql.jobs.row_check import REASON, RowCheck
from pykudu_sql.jobs.source_files import FILE, NUMBER, START
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import DataError

SHOWN: Final = 5
_REASONS: Final[Mapping[str, str]] = {PRESENT: "is present already", TWICE: "is given twice"}


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that is not loaded.

    Attributes:
        number: `NUMBER` of the row.
        kind: of the reason, to be counted.
        reason: a sentence.
        row: as it came, as text.
        file: that it is in, as Spark names it.
        block: of the file where it is.
        line: where it begins, from 1; None where that cannot be determined.
        row_number: in the file, from 1; None before it was counted.
    """

    number: int
    kind: str
    reason: str
    row: str
    file: str
    block: int
    line: int | None = None
    row_number: int | None = None

    @property
    def path(self) -> str:
        """Of the file."""
        return unquote(urlparse(self.file).path)

    def to_json(self) -> str:
        """As one line of a file of rejects."""
        place = {"row_number": self.row_number} if self.line is None else {"line": self.line}
        document = {"file": self.path, **place, "reason": self.reason, "row": self.row}
        return json.dumps(document, ensure_ascii=False)

    def text(self) -> str:
        """For a person."""
        place = f"row {self.row_number}" if self.line is None else f"line {self.line}"
        return f"{self.path}, {place}: {self.reason}: {self.row:.200}"


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """How the files were read, to find lines again.

    `file_format`: of them; `options`: of the reader, as the user gave them.
    """

    file_format: str
    options: Mapping[str, str]


def find_rejects(
    check: RowCheck, judged: DataFrame, database: str, operation: RowOpKind, limit: int
) -> list[Reject]:
    """The rows that are not loaded, in the order of the files, without their lines.

    Args:
        check: of the files.
        judged: their rows, with their `ROW_LOCATION`.
        database: its directory.
        limit: of rows that are looked for; one more says that there are more.
    """
    rejects = unfit_rows(check, judged, limit + 1)
    keys = misplaced_keys(check, judged, database, operation)
    if keys is None or len(rejects) > limit:
        return rejects
    kinds: dict[int, str] = {}
    for number, kind in keys.limit(limit + 1).collect():
        if kinds.get(number) != PRESENT:
            kinds[number] = kind
    return sorted([*rejects, *_with_kinds(check, judged, kinds)], key=lambda one: one.number)


def unfit_rows(check: RowCheck, judged: DataFrame, most: int) -> list[Reject]:
    """Rows that do not fit the table, whatever their keys are."""
    wrong = judged.where(f.col(REASON) != "").limit(most)
    rows = wrong.select(NUMBER, check.kind(), REASON, check.shown(wrong), FILE, START)
    return sorted((_reject(row) for row in rows.collect()), key=lambda one: one.number)


def _with_kinds(check: RowCheck, judged: DataFrame, kinds: Mapping[int, str]) -> list[Reject]:
    """The rows of some numbers, whose keys do not fit for reasons of some kinds."""
    if not kinds:
        return []
    numbers = judged.sparkSession.createDataFrame([(n,) for n in kinds], f"{NUMBER} bigint")
    wrong = judged.join(f.broadcast(numbers), NUMBER, "left_semi")
    key = f.concat(f.lit("key "), check.key_text(list(check.table.schema.key_columns)))
    rows = wrong.select(NUMBER, f.lit(""), key, check.shown(wrong), FILE, START)
    rejects = [_reject(row) for row in rows.collect()]
    return [
        replace(
            one, kind=kinds[one.number], reason=f"{one.reason} {_key_reason(kinds[one.number])}"
        )
        for one in rejects
    ]


def _key_reason(kind: str) -> str:
    return _REASONS.get(kind, "does not exist")


def _reject(row: Row) -> Reject:
    number, kind, reason, shown, file, block = row
    return Reject(number, kind, reason, shown, file, block)


def located(rejects: Sequence[Reject], judged: DataFrame, source: SourceFiles) -> list[Reject]:
    """Rejects with their lines, or the numbers of their rows.

    `rejects`: to be located; `judged`: all rows; `source`: how they were read.
    """
    if not rejects:
        return []
    files = {one.file for one in rejects}
    own = judged.where(f.col(FILE).isin(*files))
    blocks = own.groupBy(FILE, START).agg(f.min(NUMBER), f.count(NUMBER)).sort(START).collect()
    before: Counter[str] = Counter()
    begins: dict[tuple[str, int], int] = {}
    for file, block, first, count in blocks:
        begins[file, block] = first - before[file]
        before[file] += count
    numbered = [
        replace(one, row_number=one.number - begins[one.file, one.block] + 1) for one in rejects
    ]
    lines = {file: _lines(file, numbered, source, before[file]) for file in files}
    return [replace(one, line=lines[one.file].get((one.row_number or 0) - 1)) for one in numbered]


def _lines(file: str, rejects: Sequence[Reject], source: SourceFiles, count: int) -> dict[int, int]:
    mine = [one for one in rejects if one.file == file]
    wanted = [(one.row_number or 0) - 1 for one in mine]
    options = {name.lower(): value for name, value in source.options.items()}
    return lines_of(mine[0].path, source.file_format, options, count, wanted)


def write_rejects(rejects: Sequence[Reject], target: Path) -> None:
    """Write rejects to a file."""
    target.write_text("".join(one.to_json() + "\n" for one in rejects), encoding="utf-8")


def counted(rejects: Sequence[Reject]) -> str:
    """How many rejects there are of each kind, for a person."""
    kinds = Counter(one.kind for one in rejects)
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())


def too_many(rejects: Sequence[Reject], count: str, hint: str) -> DataError:
    """The error of a load that is not done for its rejects.

    `rejects`: the first ones, located; `count`: of all, in words; `hint`: the way out.
    """
    shown = "\n".join(f"  {one.text()}" for one in rejects)
    return DataError(
        f"{count} rows do not fit the table, so nothing was loaded; the first:\n{shown}", hint=hint
    )
