"""The files that a load reads in this process: found by paths, folders and globs."""

import csv
import glob
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.executor.writing.files.file_rows import open_rows
from pykudu_sql.files.file_access import FileAccess, PermittedFile
from pykudu_sql.files.formats import FORMATS, FileKind, file_kind, named_format
from pykudu_sql.files.reading.json_rows import JsonRows
from pykudu_sql.files.reading.row_files import RowFile
from pykudu_sql.jobs.in_process.output_files import OPTIONS, file_options
from pykudu_sql.jobs.report import size_of
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import DataError, FileAccessError, InvalidValueError

_LOCAL: Final = re.compile(r"^file:(//(?=/))?")
_ELSEWHERE: Final = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")
_PACKED: Final = (".gz", ".zst")
_HEAD_BYTES: Final = 1 << 20
_UTF8: Final = ("utf-8", "utf8")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a load.

    Attributes:
        file: it.
        kind: of it.
        keys: of its objects and those of other files, where only those columns are set; JSON alone.
    """

    file: PermittedFile
    kind: FileKind
    keys: frozenset[str] | None = None

    def open(self, table: TableInfo) -> RowFile:
        """Its rows for a table. Raises Error: see `unnamed_columns` and `open_rows`."""
        return open_rows(self.file, self.kind, table, self.unnamed_columns(table))

    @property
    def is_empty(self) -> bool:
        """Whether it is a text without a line, header included, which has no rows."""
        return self.kind.is_empty(self.file.size)

    def unnamed_columns(self, table: TableInfo) -> Sequence[ColumnSchema] | None:
        """The columns of a table that a CSV file without a header has: as many as its first row.

        Of a JSON file those of `keys`; None for all other files. Raises InvalidValueError: they are
        more than the table's.
        """
        if self.keys is not None:
            return [one for one in table.schema.visible_columns if one.name in self.keys]
        if self.kind.format != "csv" or self.kind.options.header:
            return None
        columns, count = table.schema.visible_columns, self._width()
        if count > len(columns):
            raise InvalidValueError(
                f"'{self.file.name}' has {noun_count(count, 'column')}, "
                f"the table has {len(columns)}",
                hint="without a header, columns are those of the table, in its order",
            )
        return columns[:count]

    def _width(self) -> int:
        packed = None if self.kind.compression == "none" else self.kind.compression
        try:
            with pa.input_stream(self.file.path, compression=packed) as stream:
                head: bytes = stream.read(_HEAD_BYTES)
        except OSError as error:
            raise DataError(f"'{self.file.name}' cannot be unpacked: {error!s:.200}") from None
        lines = head.decode("utf-8-sig", "replace").splitlines(keepends=True)
        quote = self.kind.options.quote
        reader = csv.reader(lines, delimiter=self.kind.delimiter, quotechar=quote)
        try:
            return len(next((cells for cells in reader if cells), ()))
        except csv.Error as error:
            raise DataError(
                f"the first row of '{self.file.name}' cannot be read: {error}"
            ) from None


def json_keys(source: SourceFile, table: TableInfo) -> frozenset[str]:
    """The keys of all objects of a file of JSON, in lower case.

    Raises DataError: it cannot be unpacked.
    """
    if source.is_empty:
        return frozenset()
    with closing(JsonRows(source.file, source.kind, table, None)) as rows:
        return rows.keys()


def with_keys(
    files: Sequence[SourceFile], table: TableInfo, keys: Iterable[frozenset[str]]
) -> Sequence[SourceFile]:
    """Files of JSON whose rows set those columns alone that some object names.

    `keys`: of objects; if there are others than the table has, each row is to say so.
    """
    all_keys = frozenset().union(*keys)
    if not all_keys or not all_keys <= table.schema.by_name.keys():
        return files
    return [replace(one, keys=all_keys) for one in files]


def spark_only_feature(sources: Sequence[str], options: Mapping[str, str]) -> str | None:
    """What of a load only Spark's readers can do, for `choose_engine`; None for nothing."""
    elsewhere = next((source for source in sources if _ELSEWHERE.match(_plain(source))), None)
    if elsewhere is not None:
        return f"'{elsewhere:.200}', which is no path of this host,"
    for name, value in options.items():
        if name.lower() == "encoding" and value.lower() in _UTF8:
            continue
        if name.lower() not in OPTIONS:
            return f"the option '{name:.40}'"
    return None


def source_bytes(sources: Sequence[str]) -> int:
    """Bytes of all files that are meant; of those elsewhere none."""
    paths = (path for source in sources for path in _named(_plain(source)))
    return sum(size_of(Path(path)) for path in paths if os.path.exists(path))


def check_no_source(target: str, sources: Sequence[str]) -> None:
    """See that a file to be written is none of those that are meant, which it would replace.

    Raises FileAccessError: it is one of them, or lies in a folder of them that is read.
    """
    place = os.path.realpath(target)
    if not os.path.lexists(place) or os.path.basename(place).startswith((".", "_")):
        return
    for path in (path for source in sources for path in _named(_plain(source))):
        if os.path.commonpath((os.path.realpath(path), place)) == os.path.realpath(path):
            raise FileAccessError(
                f"'{target}' is one of the files to load, and rejects would overwrite it",
                hint="give --rejects another name",
            )


def _named(source: str) -> Sequence[str]:
    return [source] if os.path.lexists(source) else glob.glob(source, recursive=True)


def _plain(source: str) -> str:
    return _LOCAL.sub("", source)


def find_files(
    database: str, sources: Sequence[str], file_format: str | None, options: Mapping[str, str]
) -> Sequence[SourceFile]:
    """The files of a load, all of one format.

    Args:
        database: its directory, whose files are nobody's.
        sources: paths, folders or globs.
        file_format: of all files; None takes it from their names.
        options: of the reader, as the user gave them.

    Raises OperationalError: there is no such file; InvalidValueError: the names imply no format, or
    several, or an option has no such value.
    """
    if file_format is not None and file_format not in FORMATS:
        raise InvalidValueError(
            f"there is no format '{file_format:.40}'", hint="choose one of " + ", ".join(FORMATS)
        )
    format_options = {name: value for name, value in options.items() if name.lower() in OPTIONS}
    access, settings = FileAccess(True, database, False), file_options(file_format, format_options)
    files = [file for source in sources for file in access.to_read(_plain(source))]
    if file_format is None:
        _check_one_format([file.path for file in files])
    return [SourceFile(file, file_kind(file.path, settings)) for file in files]


def _check_one_format(paths: Sequence[str]) -> None:
    formats = {path: named_format(path, _PACKED) for path in paths}
    unknown = next((path for path, one in formats.items() if one not in FORMATS), None)
    if unknown is not None:
        raise InvalidValueError(
            f"the name '{unknown:.200}' does not say the format of the file",
            hint="say --format " + "|".join(FORMATS),
        )
    names = list(islice(sorted(set(formats.values())), 2))
    if len(names) > 1:
        raise InvalidValueError(
            f"the files are of several formats: {', '.join(names)}",
            hint="load those of each format by themselves, or say which it is: --format",
        )
