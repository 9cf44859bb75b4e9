"""Physical states of the database in which a script is run; the answers must be the same."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.slt.database import ScriptDatabase


@dataclass(frozen=True, slots=True)
class State:
    """One way to run a script.

    Attributes:
        name: as `--state`, `onlyif` and `skipif` know it.
        after_statement: what happens to the database behind a statement, and behind a row of
            failing ones once.
        settings: settings of its connections.
    """

    name: str
    after_statement: Callable[[ScriptDatabase], None]
    settings: Mapping[str, Any] = field(default_factory=dict)


def _leave(database: ScriptDatabase) -> None:
    """Nothing happens: data stays in the MemRowSet."""


def _flush(database: ScriptDatabase) -> None:
    """MemRowSets and DeltaMemStores become files."""
    if not database.in_transaction:
        database.flush()


def _compact(database: ScriptDatabase) -> None:
    """Everything is flushed, then the deltas are compacted, then the rowsets of every table."""
    if not database.in_transaction:
        database.flush()
        for extent in ("", " FULL"):
            for table in database.tables():
                database.execute(f"OPTIMIZE TABLE {table}{extent}")


def _reopen(database: ScriptDatabase) -> None:
    """The log is replayed; an open transaction would not survive it and is left alone."""
    if not database.in_transaction:
        database.close()


# Rowsets of about a hundred rows, and maintenance that always has something to do.
_TINY: Mapping[str, Any] = {"rowset_bytes": 2048, "log_segment_bytes": 4096, "flush_bytes": 1}

STATES: Mapping[str, State] = {
    state.name: state
    for state in (
        State("memory", _leave),
        State("flushed", _flush),
        State("compacted", _compact),
        State("reopened", _reopen),
        State("partitioned", _leave, {"default_hash_partitions": 8}),
        State("tiny", _leave, _TINY),
    )
}
