"""Snapshots with names, dropped tables and the age that history is kept to."""

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.plan.plan import CreateSnapshot, DropSnapshot, SetDatabase, UndropTable
from pykudu_sql.results.result import Header, Outcome, Row, header_of
from pykudu_sql.settings import stored_setting_value
from pykudu_sql.storage.commit.history import FOR_EVER
from pykudu_sql.storage.common.types.cells import from_cell
from pykudu_sql.storage.common.types.hybrid_time import HYBRID_TIME, last_before, to_micros
from pykudu_sql.storage.common.types.types import DataType, Kind

_MOMENT = DataType(Kind.UNIXTIME_MICROS)
_SNAPSHOTS = header_of(
    "name text, moment moment, timestamp hybrid_time, created moment, comment text"
)
_DROPPED_TABLES = header_of("name text, dropped moment, kept_until moment, table_id text")


def create_snapshot(state: SessionState, plan: CreateSnapshot) -> Outcome:
    """CREATE SNAPSHOT."""
    definitions = state.store.definitions
    if plan.if_not_exists and plan.name in definitions.snapshots:
        return Outcome(message="Snapshot already exists.")
    if plan.bound is not None:
        state.store.wait_until_readable(plan.bound)
    definitions.create_snapshot(plan.name, plan.bound, plan.comment)
    return Outcome(message="Snapshot has been created.")


def drop_snapshot(state: SessionState, plan: DropSnapshot) -> Outcome:
    """DROP SNAPSHOT."""
    definitions = state.store.definitions
    if plan.if_exists and plan.name not in definitions.snapshots:
        return Outcome(message="Snapshot does not exist.")
    definitions.drop_snapshot(plan.name)
    return Outcome(message="Snapshot has been dropped.")


def undrop_table(state: SessionState, plan: UndropTable) -> Outcome:
    """UNDROP TABLE."""
    table = state.store.definitions.undrop_table(plan.name, plan.new_name)
    return Outcome(message=f"Table '{table.name}' is back.")


def set_database(state: SessionState, plan: SetDatabase) -> Outcome:
    """SET DATABASE: a setting that the database itself remembers."""
    age = stored_setting_value(plan.name, plan.value)
    state.store.definitions.set_history_max_age(None if age is None else int(age))
    return Outcome(message=f"Setting {plan.name} of the database has been changed.")


def snapshot_rows(state: SessionState) -> tuple[Header, list[Row]]:
    """SHOW SNAPSHOTS: the newest moment that each still sees, as time and as hybrid timestamp."""
    rows: list[Row] = [
        (
            named.name,
            from_cell(to_micros(last_before(named.bound)), _MOMENT),
            from_cell(last_before(named.bound), HYBRID_TIME),
            from_cell(to_micros(named.created), _MOMENT),
            named.comment,
        )
        for named in state.store.definitions.snapshots.values()
    ]
    return _SNAPSHOTS, sorted(rows, key=lambda row: row[0])


def dropped_table_rows(state: SessionState) -> tuple[Header, list[Row]]:
    """SHOW DROPPED TABLES, the one dropped last first; NULL is for ever."""
    store = state.store
    rows: list[Row] = []
    for table in store.definitions.dropped_tables():
        age = store.history.age_of(table.table)
        dropped = to_micros(table.dropped)
        until = None if age == FOR_EVER else from_cell(dropped + age * 1_000_000, _MOMENT)
        rows.append((table.table.name, from_cell(dropped, _MOMENT), until, table.table.id))
    return _DROPPED_TABLES, rows[::-1]
