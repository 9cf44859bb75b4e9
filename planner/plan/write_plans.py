"""Plans of statements that do one kind of operation on rows of one table."""

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.row_expression import RowComparison, RowExpression
from pykudu_sql.planner.operands.template import PredicateTemplate
from pykudu_sql.planner.operands.value import InsertedValue, Parameter, ParameterKey, Value
from pykudu_sql.planner.plan.query_plans import Query
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class InsertValues:
    """Rows of constants, parameters and functions of defaults, column by column.

    Attributes:
        kind: INSERT, INSERT_IGNORE or UPSERT.
        column_ids: the columns given; the others take their write default.
        columns: for each of them its values, all of equal length.
        rows: that length.
    """

    table: TableInfo
    kind: RowOpKind
    column_ids: tuple[int, ...]
    columns: tuple[tuple[InsertedValue, ...], ...]
    rows: int
    parameters: tuple[ParameterKey, ...] = ()
    cacheable: bool = True


Constants = tuple[tuple[int, Value], ...]


class QueryWrite:
    """A plan that writes the rows of a query."""

    __slots__ = ()
    query: Query

    @property
    def by_address(self) -> bool:
        """Whether the query's first column are the addresses of the rows."""
        return any(scan.addressed for scan in self.query.scans)

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        return self.query.parameters

    @property
    def cacheable(self) -> bool:
        """Whether the plan may be kept."""
        return self.query.cacheable


class FilledWrite(QueryWrite):
    """One whose rows also get cells that are alike in all of them."""

    __slots__ = ()
    constants: Constants

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        others = (value.key for _, value in self.constants if isinstance(value, Parameter))
        return tuple(dict.fromkeys((*self.query.parameters, *others)))


@dataclass(frozen=True, slots=True)
class InsertQuery(FilledWrite):
    """Rows of a query; its columns fill `column_ids` in order.

    Attributes:
        reset_ids: columns that the query does not give and that get their default also in rows that
            are there already.
        constants: of `column_ids`, with texts and bytes that all rows get alike in place of what
            the query gives: an engine makes a copy of them for each row.
    """

    table: TableInfo
    kind: RowOpKind
    column_ids: tuple[int, ...]
    query: Query
    reset_ids: tuple[int, ...] = ()
    constants: Constants = ()


@dataclass(frozen=True, slots=True)
class UpdateQuery(FilledWrite):
    """New values for the rows of a query: it yields the rows, then `column_ids`.

    The rows come as their addresses, or else as their key columns.

    `constants`: texts and bytes that all rows get alike, which the query does not give: an engine
    makes a copy of them for each row.
    """

    table: TableInfo
    column_ids: tuple[int, ...]
    query: Query
    constants: Constants = ()


@dataclass(frozen=True, slots=True)
class DeleteQuery(QueryWrite):
    """Deletion of the rows of a query: it yields their addresses, or else their key columns."""

    table: TableInfo
    query: Query
    statement: str = "DELETE FROM"


@dataclass(frozen=True, slots=True)
class KeyUpdate:
    """UPDATE of the one row whose key is given, to constants and parameters.

    `general`: plans the same as a query, for parameters of another kind than the key.
    """

    table: TableInfo
    key: tuple[Value, ...]
    assignments: tuple[tuple[int, Value], ...]
    general: Callable[[], "Plan"] = field(compare=False, repr=False)
    parameters: tuple[ParameterKey, ...] = ()
    cacheable: bool = True


@dataclass(frozen=True, slots=True)
class KeyDelete:
    """DELETE of the one row whose key is given. `general`: as of `KeyUpdate`."""

    table: TableInfo
    key: tuple[Value, ...]
    general: Callable[[], "Plan"] = field(compare=False, repr=False)
    parameters: tuple[ParameterKey, ...] = ()
    cacheable: bool = True


@dataclass(frozen=True, slots=True)
class KeyChange:
    """UPDATE or DELETE of the one row whose key is given, by what the row holds.

    Attributes:
        kind: UPDATE_IGNORE or DELETE_IGNORE.
        assignments: columns that are set to constants and parameters.
        computed: columns that are set to what is computed from the row.
        condition: what the row must hold to be changed; None of nothing.
        returned: names and column ids that RETURNING shows; None without it.
        general: as of `KeyUpdate`.
    """

    table: TableInfo
    kind: RowOpKind
    key: tuple[Value, ...]
    general: Callable[[], "Plan"] = field(compare=False, repr=False)
    assignments: tuple[tuple[int, Value], ...] = ()
    computed: tuple[tuple[int, RowExpression], ...] = ()
    condition: PredicateTemplate | None = None
    returned: tuple[tuple[str, int], ...] | None = None
    parameters: tuple[ParameterKey, ...] = ()
    cacheable: bool = True


@dataclass(frozen=True, slots=True)
class KeyConflict:
    """What becomes of the row that is there under the key of a row proposed.

    Attributes:
        assignments: columns that are set to constants and parameters.
        computed: columns that are set to what is computed from both rows.
        comparisons: which must all hold, or the row stays as it is.
    """

    assignments: tuple[tuple[int, Value], ...]
    computed: tuple[tuple[int, RowExpression], ...]
    comparisons: tuple[RowComparison, ...]


@dataclass(frozen=True, slots=True)
class KeyInsert:
    """INSERT of one row of constants and parameters, with ON CONFLICT DO UPDATE or RETURNING.

    Attributes:
        rows: the one row.
        conflict: of a row that may be there already; None where it must not.
        returned: names and column ids that RETURNING shows; None without it.
        general: as of `KeyUpdate`.
    """

    rows: InsertValues
    conflict: KeyConflict | None
    returned: tuple[tuple[str, int], ...] | None
    general: Callable[[], "Plan"] = field(compare=False, repr=False)
    parameters: tuple[ParameterKey, ...] = ()
    cacheable: bool = True

    @property
    def table(self) -> TableInfo:
        """The target."""
        return self.rows.table


@dataclass(frozen=True, slots=True)
class RestoreTable:
    """RESTORE TABLE: its rows become those of an earlier moment.

    Attributes:
        table: as it is now.
        bound: of the moment.
        deleted: yields the keys of the rows to delete, in key order.
        rows: yields the rows to write.
        column_ids: the columns that `rows` yields.
    """

    table: TableInfo
    bound: SnapshotBound
    deleted: Query
    rows: Query
    column_ids: tuple[int, ...]
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False
