"""Plans: what a statement means, as frozen values that an executor can match on.

A plan names tables by the `TableInfo` it was made against and columns by id, so a rename between
planning and execution cannot redirect it. Constants are cells already converted to their column's
type. Parameters stay holes: a `Parameter` says which value fills it and, where a column receives
it, the type whose `to_cell` converts it.

Every plan has two facts beside its own: `parameters`, the keys a caller must supply (0-based
positions for `?`, names for `:name`), and `cacheable`, False when planning folded something that
may differ next time (the time of day, a change of the schema).
"""

from collections.abc import Callable, Iterator
from dataclasses import field
from enum import StrEnum
from typing import ClassVar

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.template import PredicateTemplate
from pykudu_sql.planner.operands.value import Parameter, ParameterKey, Value
from pykudu_sql.planner.plan.change_plans import (
    Change,
    ChangeQuery,
    ConflictInsert,
    InsertReturning,
)
from pykudu_sql.planner.plan.command import Command, ConstantRow
from pykudu_sql.planner.plan.copy_plans import CopyFrom, CopyTo
from pykudu_sql.planner.plan.listing_plans import Describe, Description, Pragma, Show
from pykudu_sql.planner.plan.namespace_plans import Namespace
from pykudu_sql.planner.plan.prepared_plans import Deallocate, ExecutePrepared, Prepare
from pykudu_sql.planner.plan.query_plans import Query, Scan
from pykudu_sql.planner.plan.store_plans import (
    CreateSnapshot,
    DropSnapshot,
    Flush,
    Optimize,
    ResetStatements,
    SetDatabase,
    UndropTable,
    Vacuum,
)
from pykudu_sql.planner.plan.table_copy import CopyTable
from pykudu_sql.planner.plan.transaction_plans import (
    SavepointAction,
    SavepointControl,
    TransactionAction,
    TransactionControl,
)
from pykudu_sql.planner.plan.write_plans import (
    DeleteQuery,
    InsertQuery,
    InsertValues,
    KeyChange,
    KeyDelete,
    KeyInsert,
    KeyUpdate,
    RestoreTable,
    UpdateQuery,
)
from pykudu_sql.storage.catalog.alter import AlterStep
from pykudu_sql.storage.catalog.check_constraint import CheckConstraint
from pykudu_sql.storage.catalog.namespace import ViewInfo
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.partition.partition import PartitionSchema
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import Schema
from pykudu_sql.storage.common.types.table_properties import Properties


@dataclass(frozen=True, slots=True)
class KeyLookup:
    """SELECT of plain columns of one row by its key: no engine at all.

    Attributes:
        table: as of the moment read.
        key: one value for each key column, in key order.
        outputs: result names and the column id behind each.
        general: plans the same as a query, for parameters of another kind than the key.
        bound: as for `Scan`.
        condition: what else the row must hold; None of nothing.
    """

    table: TableInfo
    key: tuple[Value, ...]
    outputs: tuple[tuple[str, int], ...]
    general: Callable[[], "Plan"] = field(compare=False, repr=False)
    parameters: tuple[ParameterKey, ...] = ()
    bound: SnapshotBound | None = None
    cacheable: bool = True
    condition: PredicateTemplate | None = None


@dataclass(frozen=True, slots=True)
class CreateTable(Command):
    """CREATE TABLE, filled from a query if there is one.

    Attributes:
        query: its columns are the schema's visible columns, in order.
        replaces: whether a table of the name is dropped for it, at the same moment.
        notes: things worth telling the user, such as a key that was promoted.
        checks: the table's CHECK constraints.
    """

    name: str
    if_not_exists: bool
    schema: Schema
    partition_schema: PartitionSchema
    comment: str = ""
    query: Query | None = None
    notes: tuple[str, ...] = ()
    properties: Properties = field(default_factory=dict)
    replaces: bool = False
    checks: tuple[CheckConstraint, ...] = ()

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        tablets = noun_count(len(self.partition_schema.partitions()), "tablet")
        return f"{self.words} {self.name}: {tablets}"

    @property
    def words(self) -> str:
        """The words that the statement begins with."""
        return "CREATE OR REPLACE TABLE" if self.replaces else "CREATE TABLE"


@dataclass(frozen=True, slots=True)
class DropTables(Command):
    """DROP TABLE of one table or several, all or none; with `if_exists` a missing one is no error.

    `views`: those that read them, which are dropped with them.
    """

    names: tuple[str, ...]
    if_exists: bool = False
    views: tuple[ViewInfo, ...] = ()

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        return f"DROP TABLE {', '.join(self.names)}"


@dataclass(frozen=True, slots=True)
class AlterTable(Command):
    """All steps of one statement that changes a table, atomic, and how it is written.

    There are no steps when IF [NOT] EXISTS left none. `notes`: things worth telling the user, such
    as a partition that overlaps one that was not added; `views`: those whose columns have other
    types then, as they are and as they are to be; `message`: what the user reads when it is done.
    """

    table: TableInfo
    steps: tuple[AlterStep, ...]
    statement: str
    notes: tuple[str, ...] = ()
    views: tuple[tuple[ViewInfo, ViewInfo], ...] = ()
    message: str = "Table has been altered."

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        return self.statement if self.steps else f"{self.statement}: nothing to do"


@dataclass(frozen=True, slots=True)
class SetOption(Command):
    """SET name = value; a value of None resets the option to its default.

    `as_of` comes with its value already turned into a bound (or None for the present).
    """

    name: str
    value: bool | int | float | str | None
    word: str = "SET"

    @property
    def headline(self) -> str:
        """Its first line in EXPLAIN."""
        return f"{self.word} {self.value if self.word == 'USE' else self.name}"


@dataclass(frozen=True, slots=True)
class NoOperation(Command, headline="{0.message}", cacheable=True):
    """A statement accepted for its writers' sake that changes nothing, and why."""

    message: str


class ExplainFormat(StrEnum):
    """How EXPLAIN shows a plan: lines for people, or one JSON text for programs."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class PassEffect:
    """What a rewrite pass of the planner changed.

    `lines`: of the query that it changed or added; none if it changed nothing.
    """

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explain:
    """EXPLAIN; with `analyze` the plan also runs.

    Attributes:
        analyze: whether it also runs.
        format: of what comes out.
        passes: what each pass of planning did, if requested.
    """

    plan: "Plan"
    analyze: bool = False
    format: ExplainFormat = ExplainFormat.TEXT
    passes: tuple[PassEffect, ...] = ()
    cacheable: ClassVar[bool] = False

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        return self.plan.parameters


Write = InsertValues | InsertQuery | UpdateQuery | DeleteQuery | KeyUpdate | KeyDelete
Plan = (
    Query | KeyLookup | ConstantRow | Write | KeyChange | KeyInsert | Change
    | CopyFrom | CopyTo | CopyTable | CreateTable | DropTables | AlterTable
    | TransactionControl | SavepointControl | SetOption | SetDatabase | UndropTable
    | RestoreTable | CreateSnapshot | DropSnapshot | Show | Pragma | Description | Namespace
    | Flush | Optimize | Vacuum | ResetStatements | NoOperation
    | Prepare | ExecutePrepared | Deallocate | Explain
)  # fmt: skip


def scans_of(plan: Plan) -> Iterator[Scan]:
    """The scans a plan makes."""
    match plan:
        case Query():
            yield from plan.scans
        case InsertQuery() | UpdateQuery() | DeleteQuery() | ChangeQuery() | CopyTo():
            yield from plan.query.scans
        case RestoreTable():
            yield from (*plan.deleted.scans, *plan.rows.scans)
        case ConflictInsert():
            yield from scans_of(plan.rows)
            yield from plan.change.query.scans
        case InsertReturning():
            yield from scans_of(plan.rows)
        case CreateTable(query=Query() as query):
            yield from query.scans
        case Explain():
            yield from scans_of(plan.plan)
        case _:
            return


__all__ = [
    "AlterTable",
    "Change",
    "ChangeQuery",
    "ConflictInsert",
    "CopyFrom",
    "CopyTable",
    "CopyTo",
    "CreateSnapshot",
    "CreateTable",
    "Deallocate",
    "DeleteQuery",
    "Describe",
    "Description",
    "DropSnapshot",
    "DropTables",
    "ExecutePrepared",
    "Explain",
    "ExplainFormat",
    "Flush",
    "InsertQuery",
    "InsertReturning",
    "InsertValues",
    "KeyChange",
    "KeyDelete",
    "KeyInsert",
    "KeyLookup",
    "KeyUpdate",
    "Namespace",
    "NoOperation",
    "Optimize",
    "Parameter",
    "ParameterKey",
    "PassEffect",
    "Plan",
    "Pragma",
    "Prepare",
    "Query",
    "ResetStatements",
    "RestoreTable",
    "SavepointAction",
    "SavepointControl",
    "Scan",
    "SetDatabase",
    "SetOption",
    "Show",
    "TransactionAction",
    "TransactionControl",
    "UndropTable",
    "UpdateQuery",
    "Vacuum",
    "Value",
    "Write",
    "scans_of",
]  # fmt: skip
