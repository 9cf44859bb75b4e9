"""Plans: what a statement means, as frozen values that an executor can match on.

A plan names tables by the `TableInfo` it was made against and columns by id, so a rename between
planning and execution cannot redirect it. Constants are cells already converted to their column's
type. Parameters stay holes: a `Parameter` says which value fills it and, where a column receives
it, the type whose `to_cell` converts it.

Every plan has two facts beside its own: `parameters`, the keys a caller must supply (0-based
positions for `?`, names for `:name`), and `cacheable`, False when planning folded something that
may differ next time (the time of day, a change of the schema).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

from pykudu_sql.planner.listing_plans import Describe, Show, ShowKind
from pykudu_sql.planner.store_plans import (
    CreateSnapshot,
    DropSnapshot,
    Flush,
    Optimize,
    SetDatabase,
    UndropTable,
    Vacuum,
)
from pykudu_sql.planner.template import PredicateTemplate
from pykudu_sql.planner.value import Parameter, ParameterKey, Value
from pykudu_sql.storage.alter import AlterStep
from pykudu_sql.storage.catalog import TableInfo
from pykudu_sql.storage.common.partition import PartitionSchema
from pykudu_sql.storage.common.row_operation import RowOpKind
from pykudu_sql.storage.common.scan_spec import ScanOrder, Summary
from pykudu_sql.storage.common.schema import Schema
from pykudu_sql.storage.common.table_properties import Properties
from pykudu_sql.storage.common.types import DataType


@dataclass(frozen=True, slots=True)
class Scan:
    """One reading of one table; a query names its result `name`.

    Attributes:
        name: the relation name used in the query's residual SQL.
        table: as of the scan's moment.
        column_ids: columns the query uses, never empty, in the table's column order.
        predicate: rows that do not match it cannot matter; the query filters again. None keeps
            all. Filled with `planner.template.bind_predicate`.
        limit: enough rows if the predicate holds for all of them, or None for all.
        order: in which they come; with a limit, the first of that order.
        bound: commits below this hybrid time are visible; None reads the transaction's snapshot
            with its own writes.
    """

    name: str
    table: TableInfo
    column_ids: tuple[int, ...]
    predicate: PredicateTemplate | None = None
    limit: int | None = None
    bound: int | None = None
    order: ScanOrder = ScanOrder.NONE


@dataclass(frozen=True, slots=True)
class Query:
    """Rows computed by the engine over scans.

    Attributes:
        sql: the residual statement in the engine's dialect over the scans' names; parameters are
            `$1`, `$2`, ...
        scans: the relations it reads.
        parameters: keys of the values of `$1`, `$2`, ... in that order; a key may repeat.
        names: the result's column names, as many as it has columns.
        cacheable: whether the same text gives the same plan under the same catalog.
        expected: rows that come out if the limit of the one scan was enough. Scans drop fewer rows
            than the query, so the rows of a limited scan may turn out to be too few.
        summary: what the columns of the one row are, if they are facts about the whole table of
            the one scan; else nothing.
    """

    sql: str
    scans: tuple[Scan, ...]
    parameters: tuple[ParameterKey, ...]
    names: tuple[str, ...]
    cacheable: bool = True
    expected: int | None = None
    summary: tuple[Summary, ...] = ()

    def is_cut_short(self, scanned: int, rows: int) -> bool:
        """Whether the scan must go further: its limit left out rows that the query needs.

        Args:
            scanned: rows that the one scan gave.
            rows: rows that the query made of them.
        """
        if self.expected is None or rows >= self.expected:
            return False
        return any(scan.limit is not None and scanned >= scan.limit for scan in self.scans)

    def unlimited(self) -> "Query":
        """The same with a scan of every row."""
        scans = (replace(scan, limit=None, order=ScanOrder.NONE) for scan in self.scans)
        return replace(self, scans=tuple(scans), expected=None)


@dataclass(frozen=True, slots=True)
class KeyLookup:
    """SELECT of plain columns of the one row whose key is given: no engine at all.

    Attributes:
        table: as of the moment read.
        key: one value for each key column, in key order.
        outputs: result names and the column id behind each.
        bound: as for `Scan`.
    """

    table: TableInfo
    key: tuple[Value, ...]
    outputs: tuple[tuple[str, int], ...]
    parameters: tuple[ParameterKey, ...] = ()
    bound: int | None = None
    cacheable: bool = True


@dataclass(frozen=True, slots=True)
class InsertValues:
    """Rows of constants and parameters, column by column.

    Attributes:
        table: the target.
        kind: INSERT, INSERT_IGNORE or UPSERT.
        column_ids: the columns given; the others take their write default.
        columns: for each of them its values, all of equal length.
        rows: that length.
    """

    table: TableInfo
    kind: RowOpKind
    column_ids: tuple[int, ...]
    columns: tuple[tuple[Value, ...], ...]
    rows: int
    parameters: tuple[ParameterKey, ...] = ()
    cacheable: bool = True


@dataclass(frozen=True, slots=True)
class InsertQuery:
    """Rows of a query; its columns fill `column_ids` in order."""

    table: TableInfo
    kind: RowOpKind
    column_ids: tuple[int, ...]
    query: Query

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        return self.query.parameters

    @property
    def cacheable(self) -> bool:
        """Whether the plan may be kept."""
        return self.query.cacheable


@dataclass(frozen=True, slots=True)
class UpdateQuery:
    """New values for the rows of a query: it yields the key columns, then `column_ids`."""

    table: TableInfo
    column_ids: tuple[int, ...]
    query: Query

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        return self.query.parameters

    @property
    def cacheable(self) -> bool:
        """Whether the plan may be kept."""
        return self.query.cacheable


@dataclass(frozen=True, slots=True)
class DeleteQuery:
    """Deletion of the rows whose keys a query yields, in key order."""

    table: TableInfo
    query: Query

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        return self.query.parameters

    @property
    def cacheable(self) -> bool:
        """Whether the plan may be kept."""
        return self.query.cacheable


@dataclass(frozen=True, slots=True)
class KeyUpdate:
    """UPDATE of the one row whose key is given, to constants and parameters."""

    table: TableInfo
    key: tuple[Value, ...]
    assignments: tuple[tuple[int, Value], ...]
    parameters: tuple[ParameterKey, ...] = ()
    cacheable: bool = True


@dataclass(frozen=True, slots=True)
class KeyDelete:
    """DELETE of the one row whose key is given."""

    table: TableInfo
    key: tuple[Value, ...]
    parameters: tuple[ParameterKey, ...] = ()
    cacheable: bool = True


@dataclass(frozen=True, slots=True)
class CreateTable:
    """CREATE TABLE, filled from a query if there is one.

    Attributes:
        query: its columns are the schema's visible columns, in order.
        notes: things worth telling the user, such as a key that was promoted.
    """

    name: str
    if_not_exists: bool
    schema: Schema
    partition_schema: PartitionSchema
    comment: str = ""
    query: Query | None = None
    notes: tuple[str, ...] = ()
    properties: Properties = field(default_factory=dict)
    cacheable: ClassVar[bool] = False

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        return () if self.query is None else self.query.parameters


@dataclass(frozen=True, slots=True)
class DropTable:
    """DROP TABLE; with `if_exists` a missing table is no error."""

    name: str
    if_exists: bool = False
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class AlterTable:
    """All steps of one ALTER TABLE, atomic; no steps when IF [NOT] EXISTS left none."""

    table: TableInfo
    steps: tuple[AlterStep, ...]
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False


class TransactionAction(StrEnum):
    """What a transaction statement does."""

    BEGIN = "BEGIN"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"


@dataclass(frozen=True, slots=True)
class TransactionControl:
    """BEGIN, COMMIT or ROLLBACK."""

    action: TransactionAction
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class SetOption:
    """SET name = value; a value of None resets the option to its default.

    `as_of` comes with its value already turned into a bound (or None for the present).
    """

    name: str
    value: bool | int | float | str | None
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class NoOperation:
    """A statement accepted for its writers' sake that changes nothing, and why."""

    message: str
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Explain:
    """EXPLAIN; with `analyze` the plan also runs."""

    plan: "Plan"
    analyze: bool = False
    cacheable: ClassVar[bool] = False

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        return self.plan.parameters


@dataclass(frozen=True, slots=True)
class ConstantColumn:
    """One literal of a `ConstantRow`: what its column is called, its type, its Python value."""

    name: str
    type: DataType
    value: int | str | bool


@dataclass(frozen=True, slots=True)
class ConstantRow:
    """One row of literals."""

    columns: tuple[ConstantColumn, ...]
    parameters: ClassVar[tuple[ParameterKey, ...]] = ()
    cacheable: ClassVar[bool] = True


Write = InsertValues | InsertQuery | UpdateQuery | DeleteQuery | KeyUpdate | KeyDelete
Plan = (
    Query
    | KeyLookup
    | ConstantRow
    | Write
    | CreateTable
    | DropTable
    | AlterTable
    | TransactionControl
    | SetOption
    | SetDatabase
    | UndropTable
    | CreateSnapshot
    | DropSnapshot
    | Show
    | Describe
    | Flush
    | Optimize
    | Vacuum
    | NoOperation
    | Explain
)


def scans_of(plan: Plan) -> Iterator[Scan]:
    """The scans a plan makes."""
    match plan:
        case Query():
            yield from plan.scans
        case InsertQuery() | UpdateQuery() | DeleteQuery():
            yield from plan.query.scans
        case CreateTable(query=Query() as query):
            yield from query.scans
        case Explain():
            yield from scans_of(plan.plan)
        case _:
            return


__all__ = [
    "AlterTable",
    "ConstantColumn",
    "ConstantRow",
    "CreateSnapshot",
    "CreateTable",
    "DeleteQuery",
    "Describe",
    "DropSnapshot",
    "DropTable",
    "Explain",
    "Flush",
    "InsertQuery",
    "InsertValues",
    "KeyDelete",
    "KeyLookup",
    "KeyUpdate",
    "NoOperation",
    "Optimize",
    "Parameter",
    "ParameterKey",
    "Plan",
    "Query",
    "Scan",
    "SetDatabase",
    "SetOption",
    "Show",
    "ShowKind",
    "TransactionAction",
    "TransactionControl",
    "UndropTable",
    "UpdateQuery",
    "Vacuum",
    "Value",
    "Write",
    "scans_of",
]
