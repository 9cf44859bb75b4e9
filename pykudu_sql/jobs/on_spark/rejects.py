"""Rows of files that are not loaded, found by Spark; see `jobs.rejects`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Protocol
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.writing.collecting import key_of
from pykudu_sql.executor.writing.files.file_rows import json_row
from pykudu_sql.files.reading.source_lines import lines_of
from pykudu_sql.jobs.in_process.source_files import SourceFile
from pykudu_sql.jobs.on_spark.key_check import find_key_conflicts
from pykudu_sql.jobs.on_spark.local_files import PLACE_BITS, first_record, lines_of_records
from pykudu_sql.jobs.on_spark.row_check import FILE, KIND, NUMBER, REASON, SOURCE, START, RowCheck
from pykudu_sql.jobs.rejects import PRESENT, Reject, key_reason
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.ingest.staging import StageTarget

_PLACE: Final = (NUMBER, KIND, REASON, SOURCE, FILE, START)


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


class Places(Protocol):
    """Finds rows in their files."""

    def located(self, rejects: Sequence[RejectedRow]) -> list[Reject]:
        """Rejects with their lines, or the numbers of their rows."""


def find_rejects(
    check: RowCheck, checked: DataFrame, target: StageTarget, limit: int
) -> list[RejectedRow]:
    """The rows that are not loaded, in the order of the files, without their lines.

    Args:
        check: of the files.
        checked: their rows.
        target: of the load.
        limit: of rows that are looked for; one more says that there are more.
    """
    wrong = checked.where(f.col(KIND).isNotNull())
    first = wrong.orderBy(NUMBER).limit(limit + 1).select(*_PLACE)
    rejects = [RejectedRow(*row) for row in first.collect()]
    keys = find_key_conflicts(check, checked, target)
    if keys is None:
        return rejects
    kinds: dict[int, str] = {}
    for number, kind in keys.orderBy(NUMBER).limit(2 * (limit + 1)).collect():
        if kinds.get(number) != PRESENT:
            kinds[number] = kind
    rejects += _with_kinds(check, checked, target.table, kinds)
    return sorted(rejects, key=lambda one: one.number)[: limit + 1]


def _with_kinds(
    check: RowCheck, checked: DataFrame, table: TableInfo, kinds: Mapping[int, str]
) -> list[RejectedRow]:
    """The rows of some numbers, whose keys do not fit for reasons of some kinds."""
    if not kinds:
        return []
    numbers = checked.sparkSession.createDataFrame([(n,) for n in kinds], f"{NUMBER} bigint")
    wrong = checked.join(f.broadcast(numbers), NUMBER, "left_semi")
    cells = [f"c{place}" for place in range(len(check.column_ids))]
    rows = wrong.select(NUMBER, FILE, START, *cells).toArrow()
    columns = dict(zip(check.column_ids, rows.columns[3:], strict=True))
    names = [table.schema.by_id[i].name for i in check.column_ids]
    return [
        RejectedRow(
            row[NUMBER],
            kinds[row[NUMBER]],
            key_reason(kinds[row[NUMBER]], key_of(table, columns, place)),
            json_row({name: row[cell] for name, cell in zip(names, cells, strict=True)}),
            row[FILE],
            row[START],
        )
        for place, row in enumerate(rows.to_pylist())
    ]


@dataclass(frozen=True, slots=True)
class LocalPlaces:
    """Places in files that our readers read; a `Places`."""

    files: Sequence[SourceFile]
    table: TableInfo

    def located(self, rejects: Sequence[RejectedRow]) -> list[Reject]:
        by_path = {one.file.path: one for one in self.files}
        blocks = {(one.file, one.block) for one in rejects}
        begins = {block: first_record(by_path[block[0]], block[1]) for block in blocks}
        records = [begins[one.file, one.block] + _place(one) - one.block for one in rejects]
        lines = {
            path: lines_of_records(
                by_path[path],
                self.table,
                [record for record, one in zip(records, rejects, strict=True) if one.file == path],
            )
            for path in {one.file for one in rejects}
        }
        return [
            Reject(one.file, one.kind, one.reason, one.row, lines[one.file].get(r), r + 1)
            for one, r in zip(rejects, records, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class ReaderPlaces:
    """Places in files that Spark reads; a `Places`.

    `checked`: all rows; `file_format`: of the files; `options`: of the reader, as the user gave
    them.
    """

    checked: DataFrame
    file_format: str
    options: Mapping[str, str]

    def located(self, rejects: Sequence[RejectedRow]) -> list[Reject]:
        if not rejects:
            return []
        files = {one.file for one in rejects}
        own = self.checked.where(f.col(FILE).isin(*files))
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
        lines = {file: self._lines(file, records_of[file], before[file]) for file in files}
        return [
            Reject(_path(one.file), one.kind, one.reason, one.row, lines[one.file].get(r), r + 1)
            for one, r in zip(rejects, records, strict=True)
        ]

    def _lines(self, file: str, records: Sequence[int], count: int) -> dict[int, int]:
        options = {name.lower(): value for name, value in self.options.items()}
        return lines_of(_path(file), self.file_format, options, count, records)


def _place(row: RejectedRow) -> int:
    """In its file; see `local_files`."""
    return row.number & ((1 << PLACE_BITS) - 1)


def _path(file: str) -> str:
    """Of a file as Spark names it."""
    return unquote(urlparse(file).path)
