"""Rows as the files of a folder, each of a bounded size."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pyarrow as pa

from pykudu_sql.files.formats import FileKind, FileOptions, file_kind
from pykudu_sql.files.writing.row_writers import row_writer
from pykudu_sql.jobs.report import Progress, size_of
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.errors import InvalidValueError

# Of Arrow data in one file.
FILE_BYTES: Final = 512 << 20
_ROWS: Final = "rows_per_file"
_SUFFIX: Final[Mapping[str, str]] = MappingProxyType({"gzip": ".gz", "zstd": ".zst"})
_COMPRESSIONS: Final[Mapping[str, str]] = MappingProxyType({"uncompressed": "none"})
# Options of Spark's readers and writers that mean what one of ours does.
OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "compression": "compression", "header": "header", "sep": "delimiter",
        "delimiter": "delimiter", "quote": "quote", "nullvalue": "null",
    }
)  # fmt: skip


def spark_only_feature(options: Mapping[str, str]) -> str | None:
    """The first option that only Spark's writers have, for `choose_engine`; None for none."""
    other = next((name for name in options if name.lower() not in (*OPTIONS, _ROWS)), None)
    return None if other is None else f"the option '{other:.40}'"


def file_options(file_format: str | None, options: Mapping[str, str]) -> FileOptions:
    """Options of a job as those of files. Raises InvalidValueError: one has no such value."""
    file_settings: dict[str, Any] = {
        OPTIONS[name.lower()]: value for name, value in options.items() if name.lower() in OPTIONS
    }
    header = file_settings.pop("header", "true").lower()
    if header not in ("true", "false"):
        raise InvalidValueError(f"header is true or false, not '{header:.40}'")
    if "compression" in file_settings:
        named = file_settings["compression"].lower()
        file_settings["compression"] = _COMPRESSIONS.get(named, named)
    if file_settings.get("delimiter") == "\\t":
        file_settings["delimiter"] = "\t"
    for name in ("delimiter", "quote"):
        if len(file_settings.get(name, "x").encode()) != 1:
            raise InvalidValueError(
                f"{name} is one character of ASCII, not {file_settings[name]!r:.40}"
            )
    return FileOptions(file_format, header=header == "true", **file_settings)


def write_files(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folder: Path,
    file_format: str,
    options: Mapping[str, str],
    progress: Progress,
) -> tuple[int, int]:
    """Write rows to files `part-00000.csv` and so on; one at least, though there be no row.

    Args:
        batches: the rows.
        schema: of them.
        folder: that is there.
        file_format: of the files.
        options: of the writer, as the user gives them.
        progress: told how many rows are written.

    Returns how many rows there were, and bytes of the files. Raises InvalidValueError: an option
    has no such value; NotSupportedError: the format has no such values; OSError: the disk refused.
    """
    kind = file_kind(f"part.{file_format}", file_options(file_format, options))
    most = _most_rows(options)
    count, rest = 0, iter(batches)
    for number, first in enumerate(_firsts(rest, schema)):
        count = _write_file(folder, number, kind, first, rest, most, count, progress)
    return count, size_of(folder)


def _most_rows(options: Mapping[str, str]) -> int:
    text = next((value for name, value in options.items() if name.lower() == _ROWS), "")
    if text and not (text.isascii() and text.isdigit() and int(text)):
        raise InvalidValueError(f"{_ROWS} is a number of rows, not '{text:.40}'")
    return int(text or 1 << 62)


def _firsts(rest: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The first batch of each file, as long as there are batches."""
    first = next(rest, None)
    yield pa.RecordBatch.from_pylist([], schema) if first is None else first
    yield from rest


def _write_file(
    folder: Path,
    number: int,
    kind: FileKind,
    first: pa.RecordBatch,
    rest: Iterator[pa.RecordBatch],
    most: int,
    before: int,
    progress: Progress,
) -> int:
    """Write one file, of its first batch and some of the rest; rows that are written by then."""
    ending = _SUFFIX.get(kind.compression, "") if kind.is_text else ""
    path = folder / f"part-{number:05d}.{kind.format}{ending}"
    rows = size = 0
    with row_writer(str(path), kind, first.schema) as write:
        batch: pa.RecordBatch | None = first
        while batch is not None:
            write(pa.Table.from_batches([batch]))
            rows, size = rows + batch.num_rows, size + batch.nbytes
            progress(noun_count(before + rows, "row"))
            batch = next(rest, None) if rows < most and size < FILE_BYTES else None
    return before + rows
