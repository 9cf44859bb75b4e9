"""Plans of statements that change rows in several ways at once, or show the rows they changed.

MERGE, ON CONFLICT DO UPDATE and every statement with RETURNING have one plan: a query finds rows
and says for each which branch of the statement it takes (its first column, a number or NULL
for none); each branch is one kind of row operation on some of the query's columns. The rows shown
are made from the rows as written, by a query of their own over the relation `WRITTEN`.
"""

from enum import StrEnum

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.value import Parameter, ParameterKey
from pykudu_sql.planner.plan.query_plans import Query
from pykudu_sql.planner.plan.write_plans import Constants, InsertQuery, InsertValues
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOpKind

WRITTEN = "__written"
EXCLUDED = "__excluded"
ACTION = "__action"


def written_name(column_id: int) -> str:
    """The name that a column of the table has in the relation `WRITTEN`."""
    return f"c{column_id}"


def source_column_name(index: int) -> str:
    """The name that a column of another source has in the relation `WRITTEN`."""
    return f"s{index}"


@dataclass(frozen=True, slots=True)
class Returning:
    """RETURNING: what is shown of the rows that were written.

    Attributes:
        query: over `WRITTEN`, which has a row for each row that was inserted, updated (as it is
            then) or deleted (as it was), and in `ACTION` the name of what was done.
        column_ids: columns of the table that it reads.
        before: column ids and the positions in the change's query where their cells stand as they
            were before the change.
        source_columns: positions in the change's query of the columns that it reads of other
            sources.
    """

    query: Query
    column_ids: tuple[int, ...]
    before: tuple[tuple[int, int], ...] = ()
    source_columns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeBranch:
    """One thing that a statement does to rows.

    Attributes:
        kind: INSERT, UPDATE, UPDATE_IGNORE or DELETE.
        columns: the columns set and the positions in the query where their values stand; the key's
            always among them, except for the hidden counter of an INSERT.
        constants: texts and bytes that all its rows get alike, which the query does not give.
    """

    kind: RowOpKind
    columns: tuple[tuple[int, int], ...]
    constants: Constants = ()


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """Rows of a query, each into the branch whose number is in the query's first column.

    Attributes:
        query: no two of its rows may update or delete the same row.
        branches: by number.
        statement: MERGE, UPDATE, ...: for messages.
        returning: what is shown, if anything.
    """

    table: TableInfo
    query: Query
    branches: tuple[ChangeBranch, ...]
    statement: str
    returning: Returning | None = None

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        set_alike = (pair for branch in self.branches for pair in branch.constants)
        others = (value.key for _, value in set_alike if isinstance(value, Parameter))
        keys = (*self.query.parameters, *others, *_parameters(self.returning))
        return tuple(dict.fromkeys(keys))

    @property
    def cacheable(self) -> bool:
        """Whether the plan may be kept."""
        return self.query.cacheable and _cacheable(self.returning)


@dataclass(frozen=True, slots=True)
class InsertReturning:
    """INSERT .. RETURNING where no row may be there already."""

    rows: InsertValues | InsertQuery
    returning: Returning

    @property
    def table(self) -> TableInfo:
        """The target."""
        return self.rows.table

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        return (*self.rows.parameters, *self.returning.query.parameters)

    @property
    def cacheable(self) -> bool:
        """Whether the plan may be kept."""
        return self.rows.cacheable and self.returning.query.cacheable


class Repeated(StrEnum):
    """What becomes of rows that are proposed under one key."""

    FIRST = "the first counts"
    LAST = "the last counts"
    REFUSED = "an error"


@dataclass(frozen=True, slots=True)
class ConflictInsert:
    """Rows that are inserted, or do something else where their key is there already.

    Attributes:
        rows: the rows proposed.
        change: what becomes of them; its query reads them, complete, as the relation `EXCLUDED`.
        repeated: what becomes of those with the same key.
        target_scan: name of the scan of which only rows with a proposed key matter; None when the
            query reads the table for other reasons too.
    """

    rows: InsertValues | InsertQuery
    change: ChangeQuery
    repeated: Repeated
    target_scan: str | None

    @property
    def table(self) -> TableInfo:
        """The target."""
        return self.rows.table

    @property
    def parameters(self) -> tuple[ParameterKey, ...]:
        """Keys of the values a caller must supply."""
        return (*self.rows.parameters, *self.change.parameters)

    @property
    def cacheable(self) -> bool:
        """Whether the plan may be kept."""
        return self.rows.cacheable and self.change.cacheable


def _parameters(returning: Returning | None) -> tuple[ParameterKey, ...]:
    return () if returning is None else returning.query.parameters


def _cacheable(returning: Returning | None) -> bool:
    return returning is None or returning.query.cacheable


Change = ChangeQuery | InsertReturning | ConflictInsert
