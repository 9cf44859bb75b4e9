"""JSON, one object a line or one array of objects, as batches of rows.

Blocks of lines are read by Arrow, with the types of the table. What it does not take (a number for
a text, a key in other case, a broken line) is read again by Python's decoder, a line at a time and
numbers as the texts that write them; either way a value is what `text_values` makes of its text.

A key that an object does not have leaves its column out, as an INSERT would: it takes its default.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.json as arrow_json

from pykudu_sql.files.file_access import PermittedFile
from pykudu_sql.files.formats import FileKind
from pykudu_sql.files.reading.json_array import (
    DECODER,
    ArrayElements,
    BrokenElement,
    begins_array,
)
from pykudu_sql.files.reading.row_files import BLOCK_BYTES, FileBatch, TornRow, torn_row
from pykudu_sql.files.reading.source_lines import record_lines
from pykudu_sql.files.reading.source_stream import LineSpan, SourceStream
from pykudu_sql.files.reading.text_values import read_texts
from pykudu_sql.files.reading.typed_values import read_values
from pykudu_sql.files.text_head import without_mark
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.row_allowance import text_bytes
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import DataError, UndefinedColumnError

LONGEST_LINE: Final = 64 << 20
_BATCH_OBJECTS: Final = 20_000
_LONGEST_TEXT: Final = 1 << 16
_ABSENT: Final = object()
_TYPES: Mapping[Kind, pa.DataType] = MappingProxyType(
    {
        Kind.BOOL: pa.bool_(), Kind.INT8: pa.int64(), Kind.INT16: pa.int64(),
        Kind.INT32: pa.int64(), Kind.INT64: pa.int64(), Kind.FLOAT: pa.float64(),
        Kind.DOUBLE: pa.float64(),
    }
)  # fmt: skip
# A line that begins with anything but an object.
_NO_OBJECT = re.compile(rb"^[ \t\r]*[^\s{]", re.MULTILINE)


class JsonRows:
    """The rows of a JSON file; a `RowFile`."""

    def __init__(
        self,
        file: PermittedFile,
        kind: FileKind,
        table: TableInfo,
        requested_columns: Sequence[ColumnSchema] | None,
    ) -> None:
        """Open a file. `requested_columns`: None for all that the table shows."""
        self.count = 0
        self.columns: Sequence[ColumnSchema] = (
            table.schema.visible_columns if requested_columns is None else tuple(requested_columns)
        )
        self._path = file.path
        self._name = file.name
        self._kind = kind
        self._table = table
        self._takes_others = requested_columns is not None
        self._stream: SourceStream | LineSpan = (
            SourceStream(file.path, kind) if file.span is None else LineSpan(file.path, *file.span)
        )
        self._may_be_array = file.span is None
        fields = [(column.name, _arrow_type(column.type)) for column in self.columns]
        self._parse_options = arrow_json.ParseOptions(
            explicit_schema=pa.schema(fields),
            unexpected_field_behavior="infer" if self._takes_others else "error",
        )
        self._names = {column.name: index for index, column in enumerate(self.columns)}
        self._defaults = [index for index, c in enumerate(self.columns) if c.has_default]

    def batches(self) -> Iterator[FileBatch]:
        try:
            head = without_mark(self._stream.read(BLOCK_BYTES), self._name)
            if self._is_array(head):
                yield from self._of_array(head)
            else:
                for block in self._blocks(head):
                    yield self._by_arrow(block) or self._by_line(block)
        except (pa.ArrowException, OSError) as error:
            raise self._packed(error) from None

    def keys(self) -> frozenset[str]:
        """The keys of all objects, in lower case, instead of their rows.

        Raises DataError: the file cannot be unpacked.
        """
        keys: set[str] = set()
        try:
            head = without_mark(self._stream.read(BLOCK_BYTES), self._name)
            if self._is_array(head):
                for element in ArrayElements(_Behind(head, self._stream)).elements():
                    if isinstance(element, dict):
                        keys.update(element)
                return frozenset(keys)
            for block in self._blocks(head):
                keys |= _keys(block)
        except (pa.ArrowException, OSError) as error:
            raise self._packed(error) from None
        return frozenset(keys)

    def _is_array(self, head: bytes) -> bool:
        return self._may_be_array and begins_array(head)

    def _packed(self, error: Exception) -> DataError:
        return DataError(f"'{self._name}' cannot be unpacked: {error!s:.200}")

    def _blocks(self, head: bytes) -> Iterator[bytes]:
        """The file in pieces that end with a line; of a line that is too long its first bytes."""
        left = head
        while left:
            data = self._stream.read(BLOCK_BYTES)
            end = left.rfind(b"\n") + 1 if data else len(left)
            if end:
                yield left[:end]
            left = left[end:] + data
            if len(left) > LONGEST_LINE + BLOCK_BYTES and b"\n" not in left:
                yield left[: LONGEST_LINE + 1]
                left = self._behind_line()

    def _behind_line(self) -> bytes:
        """Pass the rest of a line; what was read behind it."""
        while data := self._stream.read(BLOCK_BYTES):
            if end := data.find(b"\n") + 1:
                return data[end:] or self._stream.read(BLOCK_BYTES)
        return b""

    def _by_arrow(self, block: bytes) -> FileBatch | None:
        """The rows of a block; None if it is to be read line by line."""
        if len(block) > LONGEST_LINE:
            return None
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        objects = block.count(b"\n{") + block.startswith(b"{")
        if objects != lines and _NO_OBJECT.search(block) is not None:
            return None  # Arrow's reader ends the process at a block that begins with null
        try:
            block.decode()
            rows = arrow_json.read_json(
                pa.BufferReader(block),
                read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1),
                parse_options=self._parse_options,
            )
        except (pa.ArrowException, UnicodeDecodeError):
            return None
        others = (name for name in rows.column_names if name not in self._names)
        if rows.num_rows != lines or any(name.lower() in self._names for name in others):
            return None
        arrays = [rows.column(column.name).combine_chunks() for column in self.columns]
        if any(arrays[index].null_count for index in self._defaults):
            return None
        first, self.count = self.count, self.count + lines
        return FileBatch(arrays, np.arange(first, self.count))

    def _by_line(self, block: bytes) -> FileBatch:
        """The same by Python's decoder, which names the fault of each line."""
        documents: list[tuple[int, Mapping[str, Any]]] = []
        torn: list[TornRow] = []
        for line in block.split(b"\n"):
            if not line.strip():
                continue
            record, self.count = self.count, self.count + 1
            if len(line) > LONGEST_LINE:
                start = line[:_LONGEST_TEXT].decode(errors="replace")
                reason = f"the line takes more than {LONGEST_LINE >> 20} MiB"
                torn.append(torn_row(record, reason, start))
                continue
            text = line.decode(errors="replace").strip()
            try:
                document = DECODER.decode(line.decode().strip())
            except UnicodeDecodeError:
                torn.append(torn_row(record, "the line is not UTF-8", text))
            except (ValueError, RecursionError) as error:
                reason = f"the line is no JSON: {str(error).partition(':')[0]}"
                torn.append(torn_row(record, reason, text))
            else:
                if not isinstance(document, dict):
                    torn.append(torn_row(record, "the line is no JSON object", text))
                elif b"\\u" in line and _has_lone_surrogate(document):
                    torn.append(torn_row(record, "the line has half of a surrogate pair", text))
                elif (fault := self._fault(document)) is not None:
                    torn.append(TornRow(record, fault, text))
                else:
                    documents.append((record, document))
        return self._batch(documents, torn)

    def _of_array(self, head: bytes) -> Iterator[FileBatch]:
        stream = _Behind(head, self._stream)
        documents: list[tuple[int, Mapping[str, Any]]] = []
        torn: list[TornRow] = []
        size = 0
        array = ArrayElements(stream)
        for element in array.elements():
            document = self._checked(element, self.count, array)
            if isinstance(document, TornRow):
                torn.append(document)
                size += len(document.text)
            else:
                documents.append((self.count, document))
                size += text_bytes(document.values())
            self.count += 1
            if len(documents) + len(torn) == _BATCH_OBJECTS or size >= BLOCK_BYTES:
                yield self._batch(documents, torn)
                documents, torn, size = [], [], 0
        yield self._batch(documents, torn)

    def _checked(
        self, element: Mapping[str, Any] | BrokenElement, record: int, array: ArrayElements
    ) -> Mapping[str, Any] | TornRow:
        """An element that came last, if it is a row."""
        if isinstance(element, BrokenElement):
            reason = f"a broken element of the array: {element.reason}"
            return torn_row(record, reason, element.text)
        if array.has_escape and _has_lone_surrogate(element):
            return torn_row(record, "the object has half of a surrogate pair", array.text)
        fault = self._fault(element)
        return element if fault is None else TornRow(record, fault, array.text)

    def _batch(
        self, documents: list[tuple[int, Mapping[str, Any]]], torn: list[TornRow]
    ) -> FileBatch:
        cells: list[list[Any]] = [[] for _ in self.columns]
        records: list[int] = []
        for record, document in documents:
            records.append(record)
            for column, values in zip(self.columns, cells, strict=True):
                values.append(document.get(column.name, _ABSENT))
        absent = {
            index: pa.array([value is _ABSENT for value in cells[index]], pa.bool_())
            for index in self._defaults
        }
        arrays = [pa.array(map(_text, values), pa.string()) for values in cells]
        return FileBatch(arrays, np.array(records, np.int64), torn, absent)

    def _fault(self, document: Mapping[str, Any]) -> DataError | UndefinedColumnError | None:
        """What keeps an object from being a row, if something does."""
        for key, value in document.items():
            if key not in self._names:
                if self._takes_others:
                    continue
                names = ", ".join(self._names)
                return UndefinedColumnError(
                    f"a key '{key:.80}' that table '{self._table.name}' has not",
                    hint="name the columns to be read: COPY t (a, b) FROM ..; those of the table "
                    f"are {names}",
                )
            if isinstance(value, dict | list):
                column = self.columns[self._names[key]]
                return DataError(f"column '{key}': a nested value is no {column.type}")
        return None

    @property
    def bytes_read(self) -> int:
        return self._stream.position

    def values(self, array: pa.Array, column: ColumnSchema) -> pa.Array:
        if pa.types.is_string(array.type):
            return read_texts(array, column, blank_is_null=False)
        return read_values(array, column)

    def lines(self, records: Sequence[int]) -> Mapping[int, int]:
        return record_lines(self._path, self._kind, len(self.columns), records)

    def close(self) -> None:
        self._stream.close()


def _arrow_type(column_type: DataType) -> pa.DataType:
    if column_type.kind is Kind.DECIMAL:
        return pa.decimal128(38, column_type.scale)
    return _TYPES.get(column_type.kind, pa.string())


def _keys(block: bytes) -> set[str]:
    """The keys of the objects in some lines, as far as they are objects; in lower case."""
    if _NO_OBJECT.search(block) is None:
        options = arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1)
        with suppress(pa.ArrowException):
            rows = arrow_json.read_json(pa.BufferReader(block), read_options=options)
            return {name.lower() for name in rows.column_names}
    keys: set[str] = set()
    for line in block.split(b"\n"):
        try:
            document = DECODER.decode(line.decode().strip())
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            keys.update(document)
    return keys


def _text(value: Any) -> str | None:
    """A scalar of JSON as text; numbers are texts already."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            return value
    return None


class _Behind:
    """A stream whose first bytes have been read."""

    def __init__(self, head: bytes, rest: SourceStream | LineSpan) -> None:
        self._pieces = chain([head], iter(lambda: rest.read(BLOCK_BYTES), b""))

    def read(self, size: int) -> bytes:
        """The next bytes, some more or less than asked for."""
        return next(self._pieces, b"")


def _has_lone_surrogate(document: object) -> bool:
    """Whether a text somewhere in a document is none that UTF-8 can write."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
