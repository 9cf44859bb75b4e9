"""Rows of files that are not loaded, found by Spark; see `jobs.rejects`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as f

from pykudu_sql.files.source_lines import lines_of
from pykudu_sql.jobs.on_spark.key_check import find_key_conflicts
from pykudu_sql.jobs.on_spark.row_check import REASON, RowCheck
from pykudu_sql.jobs.on_spark.source_files import FILE, NUMBER, START
from pykudu_sql.jobs.rejects import PRESENT, TWICE, Reject
from pykudu_sql.storage.common.rows.row_operation import RowOpKind

_REASONS: Final[Mapping[str, str]] = {PRESENT: "is present already", TWICE: "is given twice"}


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that is not loaded, before its place in its file is known.

    Attributes:
        number: `NUMBER` of the row.
        kind: of the reason, to be counted.
        reason: a sentence.
        row: as it came, as text.
        file: that it is in, as Spark names it.
        block: of the file where it is.
    """

    number: int
    kind: str
    reason: str
    row: str
    file: str
    block: int


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """How the files were read, to find lines again.

    `file_format`: of them; `options`: of the reader, as the user gave them.
    """

    file_format: str
    options: Mapping[str, str]


def find_rejects(
    check: RowCheck, checked: DataFrame, database: str, operation: RowOpKind, limit: int
) -> list[RejectedRow]:
    """The rows that are not loaded, in the order of the files, without their lines.

    Args:
        check: of the files.
        checked: their rows, with their `ROW_LOCATION`.
        database: its directory.
        limit: of rows that are looked for; one more says that there are more.
    """
    rejects = unfit_rows(check, checked, limit + 1)
    keys = find_key_conflicts(check, checked, database, operation)
    if keys is None or len(rejects) > limit:
        return rejects
    kinds: dict[int, str] = {}
    for number, kind in keys.limit(limit + 1).collect():
        if kinds.get(number) != PRESENT:
            kinds[number] = kind
    return sorted([*rejects, *_with_kinds(check, checked, kinds)], key=lambda one: one.number)


def unfit_rows(check: RowCheck, checked: DataFrame, most: int) -> list[RejectedRow]:
    """Rows that do not fit the table, whatever their keys are."""
    wrong = checked.where(f.col(REASON) != "").limit(most)
    rows = wrong.select(NUMBER, check.kind(), REASON, check.source_text(wrong), FILE, START)
    return sorted((_reject(row) for row in rows.collect()), key=lambda one: one.number)


def _with_kinds(check: RowCheck, checked: DataFrame, kinds: Mapping[int, str]) -> list[RejectedRow]:
    """The rows of some numbers, whose keys do not fit for reasons of some kinds."""
    if not kinds:
        return []
    numbers = checked.sparkSession.createDataFrame([(n,) for n in kinds], f"{NUMBER} bigint")
    wrong = checked.join(f.broadcast(numbers), NUMBER, "left_semi")
    key = f.concat(f.lit("key "), check.key_text(list(check.table.schema.key_columns)))
    rows = wrong.select(NUMBER, f.lit(""), key, check.source_text(wrong), FILE, START)
    rejects = [_reject(row) for row in rows.collect()]
    return [
        replace(
            one, kind=kinds[one.number], reason=f"{one.reason} {_key_reason(kinds[one.number])}"
        )
        for one in rejects
    ]


def _key_reason(kind: str) -> str:
    return _REASONS.get(kind, "does not exist")


def _reject(row: Row) -> RejectedRow:
    number, kind, reason, source_text, file, block = row
    return RejectedRow(number, kind, reason, source_text, file, block)


def located(
    rejects: Sequence[RejectedRow], checked: DataFrame, source: SourceFiles
) -> list[Reject]:
    """Rejects with their lines, or the numbers of their rows.

    `rejects`: to be located; `checked`: all rows; `source`: how they were read.
    """
    if not rejects:
        return []
    files = {one.file for one in rejects}
    own = checked.where(f.col(FILE).isin(*files))
    blocks = own.groupBy(FILE, START).agg(f.min(NUMBER), f.count(NUMBER)).sort(START).collect()
    before: Counter[str] = Counter()
    begins: dict[tuple[str, int], int] = {}
    for file, block, first, count in blocks:
        begins[file, block] = first - before[file]
        before[file] += count
    records = [one.number - begins[one.file, one.block] for one in rejects]
    records_of = {
        file: [r for r, one in zip(records, rejects, strict=True) if one.file == file]
        for file in files
    }
    lines = {file: _lines(file, records_of[file], source, before[file]) for file in files}
    return [
        Reject(
            _path(one.file), one.kind, one.reason, one.row, lines[one.file].get(record), record + 1
        )
        for one, record in zip(rejects, records, strict=True)
    ]


def _lines(file: str, records: Sequence[int], source: SourceFiles, count: int) -> dict[int, int]:
    options = {name.lower(): value for name, value in source.options.items()}
    return lines_of(_path(file), source.file_format, options, count, records)


def _path(file: str) -> str:
    """Of a file as Spark names it."""
    return unquote(urlparse(file).path)
