"""History in a FROM clause: `CHANGES(t, a [, b])` and `t FOR SYSTEM_TIME FROM a TO b`.

Both give rows of a stored table with metadata columns behind the table's own: the columns are those
of the table at the end of the window, under the same ids. The window's
moments mean what they mean in AS OF: a change counts if a < its commit <= b, a version if it was
valid some time in the window, whose end is not part of it for `TO` and is for `AND`.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.constant_folding.moment import PointInTime, constant_point_in_time
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import HistoryWindow
from pykudu_sql.planner.vocabulary.catalog_name import check_catalog
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.history_columns import (
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    VALID_FROM,
    VALID_TO,
    HistoryKind,
)
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound, bound_before
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType, Kind
from pykudu_sql.storage.errors import InvalidValueError, ProgrammingError, SourceSpan, SyntaxError

CHANGES = "changes"
_WINDOWS = ("FROM", "BETWEEN", "ALL")
_MOMENT = DataType(Kind.UNIXTIME_MICROS)
_TEXT = DataType(Kind.STRING)


@dataclass(frozen=True, slots=True)
class HistorySource:
    """A mention of a table's history.

    Attributes:
        name: of the table, with its database where one was given.
        window: what is looked at.
        lookup_bound: bound at which the table is looked up, None for now.
        moments: the expressions that the window came from.
    """

    name: str
    window: HistoryWindow
    lookup_bound: SnapshotBound | None
    moments: tuple[exp.Expr, ...]


def is_window(version: exp.Version) -> bool:
    """Whether a FOR SYSTEM_TIME clause selects versions."""
    return version.args.get("kind") in _WINDOWS


def is_changes(call: exp.Func) -> bool:
    """Whether a table function is CHANGES."""
    return isinstance(call, exp.Anonymous) and call.name.lower() == CHANGES


def versions_source(name: str, version: exp.Version, context: PlanContext) -> HistorySource:
    """`t FOR SYSTEM_TIME FROM a TO b | BETWEEN a AND b | ALL`.

    Raises ProgrammingError, InvalidValueError, SnapshotInFutureError: a bound is no moment, or they
    stand in the wrong order.
    """
    until = context.settings.as_of
    bounds = version.expression
    moments = tuple(bounds.expressions) if isinstance(bounds, exp.Tuple) else ()
    if not moments:
        whole = HistoryWindow(HistoryKind.VERSIONS, None, until, until)
        return HistorySource(name, whole, until, ())
    first, last = (constant_point_in_time(m, context, "FOR SYSTEM_TIME") for m in moments)
    high = bound_before(last.first) if version.args.get("kind") == "FROM" else last.bound
    _check_order(first, last, node_span(moments[1]))
    window = HistoryWindow(HistoryKind.VERSIONS, first.bound, high, until)
    return HistorySource(name, window, last.bound, moments)


def changes_source(call: exp.Func, context: PlanContext) -> HistorySource:
    """`CHANGES(t, a [, b])`; b is now when it is left out.

    Raises SyntaxError: the arguments are others; ProgrammingError, InvalidValueError,
    SnapshotInFutureError: see `versions_source`.
    """
    arguments: Sequence[exp.Expr] = call.expressions
    table = arguments[0] if arguments else None
    if not isinstance(table, exp.Column) or len(arguments) not in (2, 3):
        raise SyntaxError(
            "CHANGES takes a table and one or two moments",
            hint="write CHANGES(t, '2026-01-31 12:00:00', now())",
            span=node_span(call),
        )
    if table.db:
        check_catalog([part.name for part in table.parts], node_span(table))
    name = f"{table.table}.{table.name}" if table.table else table.name
    moments = tuple(arguments[1:])
    bounds = [constant_point_in_time(moment, context, "CHANGES") for moment in moments]
    high = context.settings.as_of
    if len(bounds) == 2:
        high = bounds[1].bound
        _check_order(bounds[0], bounds[1], node_span(moments[1]))
    window = HistoryWindow(HistoryKind.CHANGES, bounds[0].bound, high, high)
    return HistorySource(name.lower(), window, high, moments)


def history_table(table: TableInfo, kind: HistoryKind) -> TableInfo:
    """A table with the metadata columns of a history scan behind its own.

    Raises ProgrammingError: it has a column of such a name.
    """
    if kind is HistoryKind.CHANGES:
        metadata_columns = ((CHANGE_TYPE, _TEXT, False), (COMMIT_TIMESTAMP, _MOMENT, False))
    else:
        metadata_columns = ((VALID_FROM, _MOMENT, True), (VALID_TO, _MOMENT, True))
    for name, _, _ in metadata_columns:
        if name in table.schema.by_name:
            raise ProgrammingError(
                f"table '{table.name}' has a column '{name}', which its {kind} have too",
                hint=f"ALTER TABLE {table.name} RENAME COLUMN {name} TO another_name",
                sqlstate="42701",
            )
    first = table.schema.next_column_id
    extra = (
        ColumnSchema(first + i, name, column_type, nullable)
        for i, (name, column_type, nullable) in enumerate(metadata_columns)
    )
    schema = replace(table.schema, columns=(*table.schema.columns, *extra))
    return replace(table, schema=schema)


def _check_order(first: PointInTime, last: PointInTime, span: SourceSpan | None) -> None:
    if last.bound < first.bound:
        raise InvalidValueError(
            "the window of time ends before it begins", hint="swap its moments", span=span
        )
