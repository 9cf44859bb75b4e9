"""The tablets of a span of time are those that some snapshot within it sees."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from pykudu_sql.storage.catalog.alter import AddRange, DropRange, apply_steps
from pykudu_sql.storage.catalog.catalog_history import CatalogHistory, TableEvent
from pykudu_sql.storage.catalog.table_info import TableInfo, new_table
from pykudu_sql.storage.catalog.tablet_spans import tablet_spans, with_rows_of
from pykudu_sql.storage.common.partition.partition import PartitionSchema, RangePartition
from pykudu_sql.storage.common.predicate.column_predicate import Comparison, Op
from pykudu_sql.storage.common.types.hybrid_time import EVERYTHING, NOTHING
from pykudu_sql.storage.common.types.schema import ColumnSchema, create_schema
from pykudu_sql.storage.common.types.types import DataType, Kind

SCHEMA = create_schema([ColumnSchema(0, "k", DataType(Kind.INT32))], ["k"])
RANGES = tuple(RangePartition((10 * n,), (10 * n + 10,)) for n in range(3))
STEP = st.sampled_from([0, 1, 2, "renew", "drop", "undrop"])


def table() -> TableInfo:
    return new_table("t", SCHEMA, PartitionSchema((), (0,), RANGES), "", {})


def played(steps: Sequence[int | str]) -> tuple[CatalogHistory, str]:
    """Ranges come and go, and the table itself, one step each 10 ticks; senseless ones are none."""
    state = table()
    history = CatalogHistory().add(TableEvent(10, state.id, state))
    for number, step in enumerate(steps, 2):
        event: TableInfo | None = state
        if step == "drop":
            event = None
        elif step == "renew":
            first = state.partition_schema.ranges[0]
            event = state = apply_steps(state, [DropRange(first), AddRange(first)])
        elif step != "undrop":
            present = RANGES[int(step)] in state.partition_schema.ranges
            if present and len(state.tablets) == 1:
                continue
            change = DropRange(RANGES[int(step)]) if present else AddRange(RANGES[int(step)])
            event = state = apply_steps(state, [change])
        history = history.add(TableEvent(number * 10, state.id, event))
    return history, state.id


@settings(max_examples=200, deadline=None)
@given(st.lists(STEP, max_size=8), st.tuples(*[st.integers(11, 110)] * 2))
def test_the_tablets_of_a_span_are_those_that_a_snapshot_within_it_sees(
    steps: Sequence[int | str], bounds: tuple[int, int]
) -> None:
    history, table_id = played(steps)
    low, high = sorted(bounds)
    seen: dict[str, int] = {}
    for bound in range(low, high + 1):
        there = history.at(bound).by_id.get(table_id)
        seen.update({tablet.id: bound for tablet in there.tablets} if there else {})
    spans = tablet_spans(history.by_table[table_id], low, high)
    assert len({span.tablet_id for span in spans}) == len(spans)
    assert seen.keys() <= {span.tablet_id for span in spans}
    for span in spans:
        if span.dropped is not None:
            assert low <= span.dropped < high
            assert seen.get(span.tablet_id, span.dropped) == span.dropped or "drop" in steps
        elif history.at(high).by_id:
            assert seen[span.tablet_id] == high


def test_a_predicate_leaves_out_tablets_of_each_state_by_its_own_ranges() -> None:
    history, table_id = played([0, 1, 0])
    spans = tablet_spans(history.by_table[table_id], NOTHING, EVERYTHING)
    assert [span.dropped for span in spans] == [20, 30, None, None]
    below = with_rows_of(spans, Comparison(0, Op.LT, 10))
    assert [(span.index, span.dropped) for span in below] == [(0, 20), (0, None)]
    assert with_rows_of(spans, None) == spans
