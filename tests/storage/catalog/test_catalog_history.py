"""Letting go of states of tables changes nothing for the snapshots that may still be read."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.catalog_history import CatalogHistory, TableEvent
from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import HistoryPurgedError, UndefinedTableError
from tests.properties.examples import examples

SCHEMA = create_schema([ColumnSchema(0, "k", DataType(Kind.INT32))], ["k"])
STEPS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["a", "b", "c", None])), max_size=12)


def table(comment: str) -> TableInfo:
    return new_table(comment, SCHEMA, PartitionSchema(()), "", {})


def played(steps: Sequence[tuple[int, str | None]]) -> CatalogHistory:
    """Tables are made, renamed and dropped, one step each 10 ticks; senseless steps are none."""
    history = CatalogHistory()
    tables = [table(name) for name in ("x", "y", "z")]
    for number, (which, name) in enumerate(steps, 1):
        chosen, catalog = tables[which], history.latest
        if name is None and chosen.id in catalog.by_id:
            history = history.add(TableEvent(number * 10, chosen.id, None))
        elif name is not None and name not in catalog.tables:
            renamed = TableInfo(
                chosen.id, name, chosen.schema, chosen.partition_schema, chosen.tablets
            )
            history = history.add(TableEvent(number * 10, chosen.id, renamed))
    return history


@settings(max_examples=examples(100), deadline=None)
@given(STEPS, st.lists(st.integers(0, 130), min_size=3, max_size=3))
def test_snapshots_at_or_above_the_marks_see_the_same_tables(
    steps: Sequence[tuple[int, str | None]], ages: Sequence[int]
) -> None:
    before = played(steps)
    marks = dict(zip(before.newest, ages, strict=False))
    after = before.forget(marks)
    assert after.latest is before.latest or not before.events
    for bound in range(140):
        seen = {i: t for i, t in before.at(bound).by_id.items() if bound >= marks.get(i, 0)}
        found = after.at(bound).by_id
        assert {i: found.get(i) for i in seen} == seen
        assert bound < after.complete_since or dict(found) == dict(before.at(bound).by_id)
    for table_id, mark in marks.items():
        assert after.first_ends.get(table_id, mark) >= mark
        if table_id not in before.latest.by_id and before.newest[table_id] and mark == 130:
            assert table_id not in after.newest
    assert after.forget(marks).events == after.events


def test_a_name_that_may_be_forgotten_is_not_called_unknown() -> None:
    first = table("t")
    history = CatalogHistory().add(TableEvent(10, first.id, first))
    history = history.add(TableEvent(20, first.id, None)).forget({first.id: 21})
    assert not history.events and not history.owners
    for bound, error in ((20, HistoryPurgedError), (21, UndefinedTableError)):
        try:
            history.at(bound).table("t")
        except (HistoryPurgedError, UndefinedTableError) as raised:
            assert type(raised) is error
