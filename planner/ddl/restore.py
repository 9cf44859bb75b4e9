"""RESTORE TABLE: one commit that makes a table's rows what they were at an earlier moment.

    RESTORE TABLE t TO moment | SNAPSHOT name

Two set-based queries over the table then and now find the differences: surplus keys are deleted,
and rows that are missing or differ are written as they were. Rows that did not change are left
alone, so the commit is as small as the difference, and what it did shows in CHANGES. Columns are
matched by id, so renamed ones come back under their new names. A column added since keeps its value
in rows that are there, and has its default in rows that come back. A column dropped since cannot be
filled, which is an error.
"""

from pykudu_sql.planner.bind.named_table import target_table
from pykudu_sql.planner.ddl.history_commands import next_bound
from pykudu_sql.planner.parse.lexer import quote_name
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Plan
from pykudu_sql.planner.plan.write_plans import RestoreTable
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.storage.catalog.namespace import DEFAULT_DATABASE
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, last_before
from pykudu_sql.storage.errors import NotSupportedError, UndefinedTableError


def plan_restore(tokens: TokenStream, context: PlanContext) -> Plan:
    """Plan a RESTORE TABLE.

    Raises UndefinedTableError: there is no such table, or there was none then; HistoryPurgedError:
    history does not reach back so far; ReadOnlyError: the session reads at a past moment;
    NotSupportedError: a column of then was dropped; InvalidValueError, SnapshotInFutureError: the
    moment is none.
    """
    tokens.expect("RESTORE", "TABLE")
    token = tokens.current
    table = target_table(tokens.table_name(), token, context)
    tokens.expect("TO")
    bound = next_bound(tokens, context)
    tokens.expect_end()
    past_table = _table_at(table, bound, context)
    # Tables are named as the catalog stores them, whatever the session's database is.
    qualified = context.within(DEFAULT_DATABASE, None)
    # The bound of a microsecond that is not over yet lies ahead; nothing is committed there.
    moment = min(last_before(bound), context.now)
    now, past = quote_name(table.name), f"{quote_name(past_table.name)} AS OF {moment}"
    pairs = [(old.name, table.schema.by_id[old.id].name) for old in past_table.schema.columns]
    key_names = {past_table.schema.by_id[i].name for i in past_table.schema.key_ids}
    # A row with an immutable column is replaced: no update may touch it.
    compared = (
        pairs if table.schema.immutable_ids else [pair for pair in pairs if pair[0] in key_names]
    )
    keys = ", ".join(quote_name(table.schema.by_id[i].name) for i in table.schema.key_ids)
    present, before = f"SELECT {_new(compared)} FROM {now}", f"SELECT {_old(compared)} FROM {past}"
    removed_sql = f"SELECT {keys} FROM ({present} EXCEPT {before}) AS gone"
    removed_rows = plan_rows(SourceText(removed_sql), qualified)
    restored_sql = f"SELECT {_old(pairs)} FROM {past} EXCEPT SELECT {_new(pairs)} FROM {now}"
    rows = plan_rows(SourceText(restored_sql), qualified, len(removed_rows.scans))
    ids = tuple(column.id for column in past_table.schema.columns)
    return RestoreTable(table, bound, removed_rows, rows, ids)


def _table_at(table: TableInfo, bound: SnapshotBound, context: PlanContext) -> TableInfo:
    """The table as it was at a bound.

    Raises UndefinedTableError: there was none; NotSupportedError: its rows fit no more.
    """
    catalog = context.catalog_at(bound)
    past_table = catalog.by_id.get(table.id)
    if past_table is None:
        catalog.require_completeness(table.name)
        raise UndefinedTableError(
            f"table '{table.name}' did not exist at that moment",
            hint="a table of this name that was dropped is another one: SHOW DROPPED TABLES",
        )
    for column in past_table.schema.columns:
        if column.id not in table.schema.by_id:
            raise NotSupportedError(
                f"table '{table.name}' cannot be restored: column '{column.name}' of that moment "
                "was dropped",
                hint=f"CREATE TABLE ... AS SELECT * FROM {past_table.name} AS OF ... keeps all "
                "columns",
            )
    return past_table


def _old(pairs: list[tuple[str, str]]) -> str:
    return ", ".join(f"{quote_name(old)} AS {quote_name(new)}" for old, new in pairs)


def _new(pairs: list[tuple[str, str]]) -> str:
    return ", ".join(quote_name(new) for _, new in pairs)
