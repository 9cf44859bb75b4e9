"""The form of the manifest's edits, checked before they are applied.

A checksum shows that an edit is what was written, not that it makes sense. Every
member that the store computes with has a shape here: a whole number within the limits of the
format, a UUID, a list of such. What the shapes cannot say (that ids are distinct, that a range has
as many cells as columns) `check_table` does on the parsed table. Members that are not named here
are left to their readers.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.cell_check import is_cell_of
from pykudu_sql.storage.common.types.hybrid_time import END_OF_TIME
from pykudu_sql.storage.common.types.identifiers import check_identifier
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.schema_rules import check_column
from pykudu_sql.storage.common.types.table_properties import MAX_HISTORY_AGE

Shape = Callable[[Any], bool]

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEX = re.compile(r"([0-9a-f]{2})*")


def _natural(limit: int) -> Shape:
    """A whole number 0 <= n < limit."""
    return lambda value: type(value) is int and 0 <= value < limit


def _text(pattern: re.Pattern[str]) -> Shape:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _list_of(shape: Shape) -> Shape:
    return lambda value: isinstance(value, list) and all(map(shape, value))


def _optional(shape: Shape) -> Shape:
    return lambda value: value is None or shape(value)


def _object(
    members: Mapping[str, Shape], optional: Mapping[str, Shape] = MappingProxyType({})
) -> Shape:
    """An object that has at least these members, each of its shape, and perhaps the optional."""
    return lambda value: (
        isinstance(value, dict)
        and all(name in value and shape(value[name]) for name, shape in members.items())
        and all(name not in value or shape(value[name]) for name, shape in optional.items())
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_counts(value: Any) -> bool:
    """An object of column ids, as text, and counts."""
    return isinstance(value, dict) and all(
        name.isdecimal() and len(name) < 10 and _NUMBER(count) for name, count in value.items()
    )


def _is_sequences(value: Any) -> bool:
    """An object of rowset ids, as text, and records of the log."""
    return isinstance(value, dict) and all(
        name.isdecimal() and len(name) < 17 and _TIME(number) for name, number in value.items()
    )


def _is_age(value: Any) -> bool:
    """Seconds, or -1 for ever."""
    return type(value) is int and -1 <= value <= MAX_HISTORY_AGE


def _is_times(value: Any) -> bool:
    """An object of UUIDs and hybrid times, or other numbers as large."""
    return isinstance(value, dict) and all(
        _UUID.fullmatch(name) and _TIME(number) for name, number in value.items()
    )


_TIME, _NUMBER, _ID = _natural(END_OF_TIME), _natural(1 << 53), _natural(1 << 31)
_IDS, _UUIDS = _list_of(_ID), _text(_UUID)

_STATS = _object(
    {
        "min": _TIME, "max": _TIME, "deletes": _NUMBER, "reinserts": _NUMBER,
        "records": _NUMBER, "updates": _is_counts,
    }
)  # fmt: skip


def _delta_files(kind: str) -> Shape:
    one = {"number": _NUMBER, "kind": kind.__eq__, "stats": _STATS, "size": _NUMBER}
    return _list_of(_object(one))


_ROWSET = _object(
    {
        "id": _NUMBER, "base": _NUMBER, "rows": _ID, "size": _NUMBER, "min_key": _text(_HEX),
        "max_key": _text(_HEX), "column_ids": _IDS, "inserted_at": _optional(_TIME),
        "undo": _delta_files("undo"), "redo": _delta_files("redo"),
        "durable_delta_store": _NUMBER,
        "overlays": _list_of(_object({"base": _NUMBER, "column_ids": _IDS, "size": _NUMBER})),
    }
)  # fmt: skip
_TABLET = _object(
    {
        "tablet": _UUIDS, "rowsets": _list_of(_ROWSET), "dropped": _list_of(_NUMBER),
        "durable_memrowset": _optional(_NUMBER), "newest_rowset": _NUMBER,
        "newest_file": _NUMBER, "history_mark": _TIME,
    },
    {"gone": _is_sequences, "judged_from": _NUMBER},
)  # fmt: skip
_COLUMN = _object(
    {
        "id": _ID, "name": _is_text, "type": _is_text, "nullable": _is_flag,
        "encoding": _is_text, "compression": _is_text, "block_size": _NUMBER,
        "comment": _is_text, "immutable": _is_flag,
    },
    {"identity": _is_flag, "held_null": _is_flag},
)  # fmt: skip
_SCHEMA = _object(
    {
        "columns": _list_of(_COLUMN), "key_ids": _IDS, "next_column_id": _ID,
        "auto_incrementing": _is_flag,
    }
)  # fmt: skip
_HASH = _list_of(_object({"columns": _IDS, "buckets": _natural(1 << 20), "seed": _NUMBER}))
_BOUND = _optional(lambda value: isinstance(value, list))
_PARTITIONS = _object(
    {
        "hash": _HASH,
        "range_columns": _IDS,
        "ranges": _list_of(_object({"lower": _BOUND, "upper": _BOUND, "hash": _optional(_HASH)})),
    }
)
_TABLE = _object(
    {
        "id": _UUIDS, "name": _is_text, "schema": _SCHEMA, "partition_schema": _PARTITIONS,
        "tablets": _list_of(_UUIDS), "comment": _is_text,
    },
    {"checks": _list_of(_object({"name": _is_text, "condition": _is_list}))},
)  # fmt: skip
_VIEW = _object(
    {
        "id": _UUIDS, "name": _is_text, "query": _is_text, "database": _is_text,
        "comment": _is_text,
        "columns": _list_of(
            _object({member: _is_text for member in ("source", "name", "type", "comment")})
        ),
    }
)  # fmt: skip
_NAMESPACE = _object({"id": _UUIDS, "name": _is_text, "comment": _is_text})
_DURABLE: Shape = lambda value: _list_of(_TIME)(value) and len(value) == 2  # noqa: E731
_WRITER_BATCH = {"writer": _is_text, "batch": _NUMBER}
_EDITS: Mapping[str, Mapping[str, Shape]] = {
    "table": {"ts": _TIME, "table": _TABLE},
    "drop": {"ts": _TIME, "table": _UUIDS},
    "view": {"ts": _TIME, "view": _VIEW},
    "namespace": {"ts": _TIME, "namespace": _NAMESPACE},
    "drop_object": {"ts": _TIME, "object": _UUIDS},
    "drop_all": {"ts": _TIME, "tables": _list_of(_UUIDS), "objects": _list_of(_UUIDS)},
    "tablets": {"ts": _optional(_TIME), "sequence": _TIME, "tablets": _list_of(_TABLET)},
    "create": {
        "ts": _TIME,
        "sequence": _TIME,
        "tables": _list_of(_TABLE),
        "tablets": _list_of(_TABLET),
    },
    "log": {"after": _TIME},
    "forget": {"marks": _is_times, "sequence": _TIME},
    "forgotten": {"since": _TIME, "tablets": _is_times},
    "snapshot": {"ts": _TIME, "name": _is_text, "bound": _TIME, "comment": _is_text},
    "drop_snapshot": {"name": _is_text},
    "reserve": {"until": _TIME},
    "clock": {"ts": _TIME},
    "done": _WRITER_BATCH,
    "database": {"history_max_age": _optional(_is_age)},
}


def is_rowset(value: Any) -> bool:
    """Whether a JSON value has the form of a rowset's description."""
    return _ROWSET(value)


def check_form(edit: Mapping[str, Any]) -> None:
    """See that the members of an edit have their shapes.

    Raises ValueError: one has not; the message names it.
    """
    op = edit.get("op")
    if "durable" in edit and not _DURABLE(edit["durable"]):
        raise ValueError("the member 'durable' of an edit is malformed")
    if "replaced" in edit and not _list_of(_UUIDS)(edit["replaced"]):
        raise ValueError("the member 'replaced' of an edit is malformed")
    if "done" in edit and not _object(_WRITER_BATCH)(edit["done"]):
        raise ValueError("the member 'done' of an edit is malformed")
    for name, shape in _EDITS.get(op, {}).items() if isinstance(op, str) else ():
        if name not in edit or not shape(edit[name]):
            raise ValueError(f"the member '{name}' of an edit '{op}' is missing or malformed")


def _check_constraints(table: TableInfo) -> None:
    from pykudu_sql.storage.catalog.check_constraint import check_names

    check_names(table.checks)
    for constraint in table.checks:
        constraint.check(table.schema)


def check_table(table: TableInfo) -> None:
    """See that a table obeys the rules that were checked when it was made.

    Raises ValueError, DatabaseError: it does not.
    """
    from pykudu_sql.storage.cfile.encoding.type_encodings import resolve_encoding

    schema = table.schema
    check_identifier(table.name, "table")
    _check_ids(schema)
    for column in schema.columns:
        check_column(column)
        resolve_encoding(column.type, column.encoding)
        for cell in (column.read_default, column.write_default):
            if not is_cell_of(cell, column.type):
                raise ValueError(f"the default {cell!r:.80} is no value of type {column.type}")
    table.partition_schema.validate(schema)
    if table.checks:
        _check_constraints(table)
    if len({tablet.id for tablet in table.tablets}) != len(table.tablets):
        raise ValueError("a tablet is twice in a table")


def _check_ids(schema: Schema) -> None:
    ids = [column.id for column in schema.columns]
    names = {column.name for column in schema.columns}
    if len(set(ids)) != len(ids) or len(names) != len(ids):
        raise ValueError("two columns have one id or one name")
    keys = schema.key_ids
    if not keys or len(set(keys)) != len(keys) or not set(keys) <= set(ids):
        raise ValueError("the primary key names columns that are not there, or none")
    if max(ids) >= schema.next_column_id:
        raise ValueError(f"column id {max(ids)} lies beyond the next one to be given")
    if any(c.nullable or not c.type.allowed_in_key for c in schema.key_columns):
        raise ValueError("a column of the primary key is nullable or of a type no key has")
