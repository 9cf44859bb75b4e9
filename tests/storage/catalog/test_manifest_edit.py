"""Edits whose checksum is right and which make no sense are refused by number and file."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.catalog.table_info import TableInfo, TabletInfo
from pykudu_sql.storage.common.partition.partition import HashDimension, PartitionSchema
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.type_names import parse_type
from pykudu_sql.storage.errors import CorruptionError


def table_edit() -> dict[str, Any]:
    columns = [ColumnSchema(0, "id", parse_type("INT")), ColumnSchema(0, "v", parse_type("DATE"))]
    partitions = PartitionSchema((HashDimension((0,), 2),))
    tablets = tuple(
        TabletInfo(f"{i:08d}-0000-4000-8000-000000000000", partition)
        for i, partition in enumerate(partitions.partitions())
    )
    identity = "00000000-0000-4000-8000-00000000000a"
    table = TableInfo(identity, "t", create_schema(columns, ["id"]), partitions, tablets)
    return {"op": "table", "ts": 1 << 60, "table": table.to_json()}


def test_the_edit_as_written_is_taken() -> None:
    assert list(StoreState.of([table_edit()], "m.log").history.latest.tables) == ["t"]


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no time": lambda e: e.pop("ts"),
    "a time of text": lambda e: e.update(ts="now"),
    "a time no clock can go on from": lambda e: e.update(ts=(1 << 64) - 1),
    "a time that is a truth": lambda e: e.update(ts=True),
    "a table that is a list": lambda e: e.update(table=[]),
    "an id that leads elsewhere": lambda e: e["table"].update(id="../../etc"),
    "a tablet that leads elsewhere": lambda e: e["table"]["tablets"].__setitem__(0, "../x"),
    "a tablet twice": lambda e: e["table"].update(tablets=e["table"]["tablets"][:1] * 2),
    "a tablet too few": lambda e: e["table"]["tablets"].pop(),
    "a million buckets": lambda e: e["table"]["partition_schema"]["hash"][0].update(
        buckets=1_000_000
    ),
    "a column twice": lambda e: e["table"]["schema"]["columns"].append(
        copy.deepcopy(e["table"]["schema"]["columns"][1])
    ),
    "a key that is not there": lambda e: e["table"]["schema"].update(key_ids=[7]),
    "a nullable key": lambda e: e["table"]["schema"]["columns"][0].update(nullable=True),
    "an unknown type": lambda e: e["table"]["schema"]["columns"][1].update(type="JSON"),
    "an encoding of another type": lambda e: e["table"]["schema"]["columns"][1].update(
        encoding="DICT_ENCODING"
    ),
    "a default of another type": lambda e: e["table"]["schema"]["columns"][1].update(
        read_default="today"
    ),
    "a day outside the calendar": lambda e: e["table"]["schema"]["columns"][1].update(
        read_default=1 << 30
    ),
    "a function of no name": lambda e: e["table"]["schema"]["columns"][1].update(
        write_default={"function": "later()"}
    ),
    "a function of another type": lambda e: e["table"]["schema"]["columns"][1].update(
        write_default={"function": "uuid()"}
    ),
    "no next id": lambda e: e["table"]["schema"].update(next_column_id=1),
}


TABLE = "00000000-0000-4000-8000-00000000000a"
SENSELESS: dict[str, dict[str, Any]] = {
    "marks of no table": {"op": "forget", "marks": {"t": 1}, "sequence": 0},
    "a mark no clock can go on from": {"op": "forget", "marks": {TABLE: 1 << 64}, "sequence": 0},
    "purged up to no record": {"op": "forgotten", "since": 0, "tablets": {TABLE: -1}},
    "a snapshot without a name": {
        "op": "snapshot", "ts": 1, "name": "", "bound": 1, "comment": ""
    },
    "a snapshot of no moment": {
        "op": "snapshot", "ts": 1, "name": "s", "bound": None, "comment": ""
    },
    "a snapshot that is not there": {"op": "drop_snapshot", "name": "s"},
    "an age below for ever": {"op": "database", "history_max_age": -2},
    "an edit of a tablet that no table has": {
        "op": "tablets", "ts": None, "sequence": 0, "tablets": [{
            "tablet": TABLE, "rowsets": [], "dropped": [], "durable_memrowset": None,
            "newest_rowset": 0, "newest_file": 0, "history_mark": 5,
        }],
    },
}  # fmt: skip


@pytest.mark.parametrize("edit", SENSELESS.values(), ids=SENSELESS.keys())
def test_edits_about_history_that_make_no_sense_are_refused(edit: dict[str, Any]) -> None:
    with pytest.raises(CorruptionError, match=r"edit 1 of 'm\.log' makes no sense"):
        StoreState.of([edit], "m.log")


@pytest.mark.parametrize("change", CHANGES)
def test_an_edit_that_makes_no_sense_is_refused_by_its_number(change: str) -> None:
    edit = table_edit()
    CHANGES[change](edit)
    with pytest.raises(CorruptionError, match=r"edit 2 of '/db/manifest/1\.log' makes no sense"):
        StoreState.of([{"op": "log", "after": 0}, edit], "/db/manifest/1.log")
