"""What would make a database smaller or faster: sentences about its tables. A pure function."""

from collections.abc import Iterator

from pykudu_sql.dataclass import dataclass
from pykudu_sql.shell.report.facts import DatabaseFacts, TableFacts
from pykudu_sql.shell.report.sizes import format_size
from pykudu_sql.storage.common.noun_count import noun_count

# Below these nobody would notice the gain.
_HEIGHT = 2.0
_CHANGES_SHARE = 0.1
_DEAD_SHARE = 0.2
_SMALL_ROWSETS = 8
_SMALL_BYTES = 1 << 20
_MEMORY_BYTES = 64 << 20
_UNDO_SHARE = 0.5
_LEAST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Advice:
    """Something to do. `statement`: that does it; `reason`: what it gains."""

    statement: str
    reason: str


def advice(facts: DatabaseFacts) -> list[Advice]:
    """Advice about all tables, those that gain most first."""
    return [each for table in facts.tables for each in _of_table(table)]


def _of_table(table: TableFacts) -> Iterator[Advice]:
    name = ".".join('"' + part.replace('"', '""') + '"' for part in table.name.split(".", 1))
    if all(part.isidentifier() and part == part.lower() for part in table.name.split(".", 1)):
        name = table.name
    reasons = list(_optimize_reasons(table))
    if reasons:
        yield Advice(f"OPTIMIZE TABLE {name}", "; ".join(reasons))
    if table.memory_bytes >= _MEMORY_BYTES:
        yield Advice(
            f"FLUSH {name}",
            f"{format_size(table.memory_bytes)} of rows and changes are in memory; opening the "
            "database replays them from the log",
        )
    undo = sum(tablet.undo_bytes for tablet in table.tablets)
    if undo >= _LEAST_BYTES and undo >= _UNDO_SHARE * max(1, table.disk_bytes):
        yield Advice(
            f"ALTER TABLE {name} SET TBLPROPERTIES ('kudu.table.history_max_age_sec' = '..')",
            f"{format_size(undo)} of {format_size(table.disk_bytes)} are history: keep it for a "
            "shorter time, then VACUUM",
        )


def _optimize_reasons(table: TableFacts) -> Iterator[str]:
    rowsets = [r for tablet in table.tablets for r in tablet.rowsets if not r.in_memory]
    highest = max((tablet.height for tablet in table.tablets), default=0.0)
    if highest >= _HEIGHT:
        yield f"a look-up of a random key asks {highest:.1f} rowsets, and 1 afterwards"
    rows = sum(rowset.rows for rowset in rowsets)
    changes = sum(rowset.changes for rowset in rowsets)
    if rows and changes >= _CHANGES_SHARE * rows:
        applied = f"{noun_count(changes, 'change')} to {noun_count(rows, 'row')}"
        yield f"scans apply {applied}, and none afterwards"
    dead = rows - sum(rowset.live_rows for rowset in rowsets)
    if rows and dead >= _DEAD_SHARE * rows:
        size = sum(rowset.disk_bytes for rowset in rowsets) * dead // rows
        if size >= _LEAST_BYTES:
            yield (
                f"{dead:,} of {rows:,} rows on disk are deleted, about {format_size(size)}; once "
                "their history is too old to be kept they go"
            )
    small = [rowset for rowset in rowsets if rowset.disk_bytes < _SMALL_BYTES]
    if len(small) >= _SMALL_ROWSETS and len(small) >= _SMALL_ROWSETS * len(table.tablets):
        yield f"{len(small):,} rowsets are smaller than {format_size(_SMALL_BYTES)} each"
