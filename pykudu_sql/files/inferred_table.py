"""A table for files: the types of their columns, and a key proposed.

Types are inferred by Arrow, from all rows of files that are not large, else from the first. Texts
that a number would change (`007`, more digits than a DOUBLE has) stay texts. The key is the first
column, or pair of columns, whose values differ in all rows seen; the rows behind them are checked
when they are inserted.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from itertools import chain, combinations, islice
from types import MappingProxyType
from typing import Final

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.json as arrow_json

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.file_access import FileAccess, PermittedFile
from pykudu_sql.files.formats import FileKind, FileOptions, file_kind
from pykudu_sql.files.reading.column_rows import ColumnFile
from pykudu_sql.files.reading.json_array import ArrayElements, begins_array
from pykudu_sql.files.reading.source_stream import escaped
from pykudu_sql.files.text_head import header_names, likely_delimiter, without_mark
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.stored_form import stored_type
from pykudu_sql.storage.errors import DataError, InvalidSchemaError, UndefinedColumnError

SAMPLE_BYTES: Final = 8 << 20
# Files of more bytes together are not read to their ends for the types of their columns.
_READ_BYTES: Final = 64 << 20
_HEADER_BYTES: Final = 1 << 16
_SAMPLE_OBJECTS: Final = 20_000
_LEADING_ZERO: Final = r"^\s*[+-]?0[0-9]"
_PLAIN_NUMBER: Final = re.compile("0|-?[1-9][0-9]{0,17}", re.ASCII)
_NO_DIGITS: Final = "^[^1-9]*|[eE].*|[^0-9]"
_MOST_DIGITS: Final = 15
_TYPES: Mapping[pa.DataType, str] = MappingProxyType(
    {
        pa.bool_(): "BOOLEAN", pa.int8(): "TINYINT", pa.int16(): "SMALLINT", pa.int32(): "INT",
        pa.int64(): "BIGINT", pa.uint8(): "SMALLINT", pa.uint16(): "INT", pa.uint32(): "BIGINT",
        pa.uint64(): "DECIMAL(20,0)", pa.float32(): "FLOAT", pa.float64(): "DOUBLE",
        pa.string(): "STRING", pa.large_string(): "STRING", pa.string_view(): "STRING",
        pa.binary(): "BINARY", pa.large_binary(): "BINARY", pa.binary_view(): "BINARY",
        pa.date32(): "DATE", pa.date64(): "DATE", pa.null(): "STRING", pa.float16(): "FLOAT",
    }
)  # fmt: skip
# Types whose values a later one of the same ladder holds, too.
_LADDERS: Final = (
    ("TINYINT", "SMALLINT", "INT", "BIGINT"),
    ("TINYINT", "SMALLINT", "INT", "DOUBLE"),
    ("BIGINT", "DOUBLE"),
    ("FLOAT", "DOUBLE"),
    ("DATE", "TIMESTAMP"),
)
_NO_KEY: Final = frozenset({"BOOLEAN", "FLOAT", "DOUBLE"})


@dataclass(frozen=True, slots=True)
class InferredTable:
    """What files define of a table that is to have their rows.

    Attributes:
        columns: names in lower case, with their SQL types.
        key: columns that may be its key; empty if none were found.
    """

    columns: Mapping[str, str]
    key: tuple[str, ...]

    def with_key(self, names: Sequence[str]) -> "InferredTable":
        """The same with a key that somebody names.

        Raises UndefinedColumnError: there is no such column.
        """
        for name in names:
            if name.lower() not in self.columns:
                raise UndefinedColumnError(
                    f"there is no column '{name:.80}' for the key",
                    hint="the columns are " + ", ".join(self.columns),
                )
        return InferredTable(self.columns, tuple(name.lower() for name in names))

    def create_statement(self, table: str) -> str:
        """The CREATE TABLE. `table`: its name as SQL has it."""
        columns = [
            f"{_quoted(name)} {kind}" + (" NOT NULL" if name in self.key else "")
            for name, kind in self.columns.items()
        ]
        key = ", ".join(map(_quoted, self.key))
        return f"CREATE TABLE {table} ({', '.join(columns)}, PRIMARY KEY ({key}))"


def infer_table(pattern: str, options: FileOptions) -> InferredTable:
    """The table for the files that a path, a folder or a glob names.

    Types hold all values of files that are not large, else those of the first rows.

    Raises OperationalError: there is none; DataError: it cannot be read; InvalidSchemaError: it has
    a column of a type that no table has; InvalidValueError: its format is not known.
    """
    files = FileAccess(True, None, False).to_read(pattern)
    kinds = [(each, file_kind(each.name, options)) for each in files]
    file, kind = kinds[0]
    try:
        rows = _sample(file, kind)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataError(f"'{file.name}' cannot be read as {kind.format}: {error!s:.200}") from None
    columns = dict(schema_columns(rows.schema, kind.is_text))
    lower = rows.rename_columns([*columns])
    sizes = [os.stat(each.path).st_size for each in files]
    if sum(sizes) <= _READ_BYTES:
        full = [one for one, size in zip(kinds, sizes, strict=True) if not one[1].is_empty(size)]
        columns.update(infer_columns(full))
    return InferredTable(columns, _proposed_key(lower, columns))


def with_likely_delimiter(pattern: str, options: FileOptions) -> FileOptions:
    """Options with the delimiter that the first line of the first file seems to have.

    Those as they are where they name one, and for files that are no CSV. Raises what `infer_table`
    raises for a missing file or format.
    """
    file = FileAccess(True, None, False).to_read(pattern)[0]
    kind = file_kind(file.name, options)
    if options.delimiter is not None or kind.format != "csv":
        return options
    packed = None if kind.compression == "none" else kind.compression
    with pa.input_stream(file.path, compression=packed) as stream:
        head = without_mark(stream.read(_HEADER_BYTES), file.name)
    header = next((line for line in head.decode(errors="replace").splitlines() if line), "")
    return replace(options, delimiter=likely_delimiter(header, kind.delimiter, options.quote))


def schema_columns(schema: pa.Schema, is_text: bool = False) -> Mapping[str, str]:
    """SQL types for the columns of a schema, by names in lower case.

    `is_text`: whether the types were inferred from text. Raises InvalidSchemaError: a column is
    there twice, or of a type that no table has.
    """
    columns: dict[str, str] = {}
    for field in schema:
        if field.name.lower() in columns:
            raise InvalidSchemaError(f"the column '{field.name:.80}' is there twice")
        columns[field.name.lower()] = _sql_type(field, is_text)
    return columns


def infer_columns(files: Sequence[tuple[PermittedFile, FileKind]]) -> Mapping[str, str]:
    """SQL types that hold every value of some files, by names in lower case.

    Texts are looked through to their ends. Raises DataError: one cannot be read;
    InvalidSchemaError: it has a column of a type that no table has.
    """
    types: dict[str, str | None] = {}
    for file, kind in files:
        for name, text in file.partitions.items():
            types[name] = _wider(types.get(name), _type_of_text(text))
        try:
            for rows in _pieces(file, kind):
                for field in rows.schema:
                    name, own = field.name.lower(), _type_unless_null(field, kind.is_text)
                    types[name] = _wider(types.get(name), own)
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise DataError(
                f"'{file.name}' cannot be read as {kind.format}: {error!s:.200}"
            ) from None
    return {name: kind or "STRING" for name, kind in types.items()}


def _pieces(file: PermittedFile, kind: FileKind) -> Iterator[pa.Table]:
    """A file in tables that together have all of its rows, or of typed ones its first."""
    if not kind.is_text:
        yield _sample(file, kind)
        return
    packed = None if kind.compression == "none" else kind.compression
    with pa.input_stream(file.path, compression=packed) as stream:
        left = without_mark(stream.read(SAMPLE_BYTES), file.name)
        if kind.format == "json" and begins_array(left):
            yield _sample(file, kind)
            return
        is_headed = kind.format == "csv" and kind.options.header
        header = left[: left.find(b"\n") + 1] if is_headed else b""
        piece_header = b""
        while left:
            more = stream.read(SAMPLE_BYTES)
            whole = _whole_lines(left, not more)
            if whole.strip():
                data = piece_header + whole
                yield (_csv_sample(data, kind) if kind.format == "csv" else _json_sample(data))
                piece_header = header
            left = left[len(whole) :] + more


def _type_of_text(text: str | None) -> str | None:
    """The type of a value in a path; None for NULL."""
    if text is None:
        return None
    return "BIGINT" if _PLAIN_NUMBER.fullmatch(text) else "STRING"


def _type_unless_null(field: pa.Field, is_text: bool) -> str | None:
    """The type of a column; None where all cells are NULL."""
    return None if pa.types.is_null(field.type) else _sql_type(field, is_text)


def _wider(one: str | None, other: str | None) -> str | None:
    """The type that holds the values of two."""
    if one is None or other is None or one == other:
        return one or other
    types = {one, other}
    for ladder in _LADDERS:
        if types <= set(ladder):
            return max(types, key=ladder.index)
    return "STRING"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sample(file: PermittedFile, kind: FileKind) -> pa.Table:
    """The first rows of a file."""
    if not kind.is_text:
        with closing(ColumnFile(file, kind.format)) as columns:
            names = columns.schema.names
            first = islice(columns.batches(names), 1)
            return pa.Table.from_batches(first, pa.schema([*columns.schema]))
    packed = None if kind.compression == "none" else kind.compression
    with pa.input_stream(file.path, compression=packed) as stream:
        data = without_mark(stream.read(SAMPLE_BYTES), file.name)
        is_all = not stream.read(1)
    if kind.format == "csv":
        return _csv_sample(_whole_lines(data, is_all), kind)
    if not begins_array(data):
        return _json_sample(_whole_lines(data, is_all))
    with pa.input_stream(file.path, compression=packed) as stream:
        elements = ArrayElements(stream, json.JSONDecoder()).elements()
        objects = (one for one in elements if isinstance(one, dict))
        lines = "\n".join(map(json.dumps, islice(objects, _SAMPLE_OBJECTS)))
    return arrow_json.read_json(BytesIO(lines.encode()))


def _whole_lines(data: bytes, is_all: bool) -> bytes:
    return data if is_all else data[: data.rfind(b"\n") + 1]


def _json_sample(data: bytes) -> pa.Table:
    """Rows of JSON lines; where not all are objects, of those that are: others are no rows."""
    try:
        return arrow_json.read_json(BytesIO(data))
    except pa.ArrowException:
        objects = [line for line in data.split(b"\n") if _is_object(line)]
        return arrow_json.read_json(BytesIO(b"\n".join(objects)))


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _csv_sample(data: bytes, kind: FileKind) -> pa.Table:
    data = escaped(data.decode(errors="surrogateescape")).encode()
    parsing = arrow_csv.ParseOptions(
        delimiter=kind.delimiter,
        quote_char=kind.options.quote,
        newlines_in_values=True,
        invalid_row_handler=lambda row: "skip",
    )
    is_headed = kind.options.header
    reading = arrow_csv.ReadOptions(
        block_size=max(len(data), 1) + 1, autogenerate_column_names=not is_headed
    )
    nulls = [*arrow_csv.ConvertOptions().null_values, kind.options.null]
    inferring = arrow_csv.ConvertOptions(null_values=nulls)
    rows = arrow_csv.read_csv(BytesIO(data), reading, parsing, inferring)
    converting = arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(rows.column_names, pa.string())
    )
    texts = arrow_csv.read_csv(BytesIO(data), reading, parsing, converting)
    for index, field in enumerate(rows.schema):
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        if is_number and _would_change(texts.column(index), field.type):
            rows = rows.set_column(index, field.name, texts.column(index))
    names = rows.column_names if is_headed else [""] * rows.num_columns
    return rows.rename_columns(header_names(names))


def _would_change(texts: pa.ChunkedArray, kind: pa.DataType) -> bool:
    """Whether numbers of a type are not all that their texts say."""
    if pc.any(pc.match_substring_regex(texts, _LEADING_ZERO)).as_py():
        return True
    if pa.types.is_integer(kind):
        return False
    digits = pc.replace_substring_regex(texts, _NO_DIGITS, "")
    return (pc.max(pc.utf8_length(digits)).as_py() or 0) > _MOST_DIGITS


def _sql_type(field: pa.Field, is_text: bool) -> str:
    kind = stored_type(field.type)
    if pa.types.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= 38:
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP"
    if pa.types.is_fixed_size_binary(kind):
        return "BINARY"
    if kind in _TYPES:
        return _TYPES[kind]
    if is_text and not pa.types.is_nested(kind):
        return "STRING"
    raise InvalidSchemaError(
        f"column '{field.name:.80}' is {kind!s:.80}, which no table takes",
        hint="leave the column out, or make a text of it; of a file, create the table first, and "
        "name the columns: COPY t (a, b) FROM ..",
    )


def _proposed_key(rows: pa.Table, columns: Mapping[str, str]) -> tuple[str, ...]:
    able = [
        name
        for name, kind in columns.items()
        if kind not in _NO_KEY and not rows.column(name).null_count
    ]
    able.sort(key=lambda name: name not in ("id", "key"))
    keys = chain(((name,) for name in able), combinations(able[:8], 2))
    for key in keys:
        if rows.select(key).group_by([*key]).aggregate([]).num_rows == rows.num_rows:
            return key
    return ()
