"""Plans of queries: what is scanned, and what the engine makes of it."""

from collections.abc import Callable
from dataclasses import field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.template import PredicateTemplate
from pykudu_sql.planner.operands.value import ComputedNumbers, Parameter, ParameterKey, United
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.column_predicate import Op
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder, Summary
from pykudu_sql.storage.common.rows.history_columns import HistoryKind
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.types import DataType

if TYPE_CHECKING:  # plans that need no engine do without the parser, which is slow to load
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class HistoryWindow:
    """What a scan of a table's history looks at; see `storage.history_scan`.

    Attributes:
        kind: changes, or versions.
        low: bound at which the window begins; None is where history does.
        high: bound at which it ends; None is the transaction's snapshot.
        until: commits at or above this bound are not seen; None is the transaction's snapshot.
    """

    kind: HistoryKind
    low: SnapshotBound | None
    high: SnapshotBound | None
    until: SnapshotBound | None


@dataclass(frozen=True, slots=True)
class TopRows:
    """The first rows of its one table that a query needs; see `pushdown.top_rows`.

    Attributes:
        column_id: of the column by which they are the first.
        descending: whether the greatest cells come first.
        nulls_first: whether rows without a cell come before all others, and there may be some.
        rows: how many are needed.
        expected: how many the query then has.
        filtered: whether the query has a WHERE.
    """

    column_id: int
    descending: bool
    nulls_first: bool
    rows: int
    expected: int
    filtered: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """One reading of one table; a query names its result `name`.

    Attributes:
        name: the relation name used in the query's residual SQL.
        table: as of the scan's moment.
        column_ids: columns the query uses, in the table's column order; none only if addressed.
        predicate: rows that do not match it cannot matter; the query filters again. None keeps
            all. Filled with `planner.template.bind_predicate`.
        limit: enough rows if the predicate holds for all of them, or None for all.
        order: in which they come; with a limit, the first of that order.
        history: what of the table's history is read, with more columns than the table has, instead
            of its rows at one moment.
        addressed: whether the result has one more column, `ROW_ADDRESS`, for a statement that
            writes to the rows.
        bound: commits below this hybrid time are visible; None reads the transaction's snapshot
            with its own writes.
        validity_ids: columns of which the query asks only whether they are NULL, so a scan may
            give any cells in place of those that are not.
        top: the first rows that a subquery needs of it; None for all.
    """

    name: str
    table: TableInfo
    column_ids: tuple[int, ...]
    predicate: PredicateTemplate | None = None
    limit: int | None = None
    bound: SnapshotBound | None = None
    order: ScanOrder = ScanOrder.NONE
    history: HistoryWindow | None = None
    addressed: bool = False
    validity_ids: frozenset[int] = frozenset()
    top: TopRows | None = None


@dataclass(frozen=True, slots=True)
class RuntimeFilter:
    """An equality by which the rows of one scan filter another scan.

    Attributes:
        source: name of the scan whose values are wanted.
        source_id: the column that has them.
        target: name of the scan that needs only rows with one of these values.
        target_id: the column that meets them.
    """

    source: str
    source_id: int
    target: str
    target_id: int


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """A text column of a scan, or a function of one, that a query groups by.

    Attributes:
        scan: name of the scan.
        column: name of the column.
        code: name of the column of its codes.
        values: SQL for the function's values of words (`pushdown.text_functions`); empty where the
            query groups by the column itself.
    """

    scan: str
    column: str
    code: str
    values: str = ""


@dataclass(frozen=True, slots=True)
class CodedGroups:
    """The form of a query that groups by codes; see `pushdown.words.dictionary_grouping`.

    Attributes:
        columns: whose codes it reads beside the scans' columns.
        decoded: which of the columns the further parameters are the words of, in their order.
        print: its SQL, as that of `Query`, with lists of words as further parameters; made at its
            first use.
        print_joint: the same where the codes of the first column are those of all of them together;
            None where they are not the keys of one group, all of one mention of a table.
    """

    columns: tuple[CodedColumn, ...]
    decoded: tuple[int, ...]
    print: Callable[[], str] = field(compare=False, repr=False)
    print_joint: Callable[[], str] | None = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SortKey:
    """A stored column by which rows are sorted.

    Attributes:
        column_id: of the column.
        descending: whether the greatest cells come first.
        nulls_first: whether rows without a cell come before all others.
    """

    column_id: int
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class ScannedRows:
    """The form of a query that needs no engine; see `pushdown.scanned_rows`.

    The scan alone decides only where the values of its predicate's parameters are compared exactly
    (`template.fill`).

    Attributes:
        outputs: ids of the stored columns that the result's columns are.
        order: in which the rows of the scan are wanted.
        offset: how many of them are left out at the beginning.
        sort: in which order they are put once they are read; of nothing, they stay in that one.
        limit: how many of those that are sorted come; None for all.
    """

    outputs: tuple[int, ...]
    order: ScanOrder
    offset: int
    sort: tuple[SortKey, ...] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Narrowing:
    """How values that were computed first filter a scan.

    Attributes:
        target: name of the scan.
        column_id: its column that meets the values.
        op: how it is compared with the one value; None where it is one of the values.
    """

    target: str
    column_id: int
    op: Op | None


@dataclass(frozen=True, slots=True)
class WordCondition:
    """What a query asks of a text column, to be computed for words instead of rows.

    See `pushdown.words.word_conditions`.

    Attributes:
        scan: name of the scan.
        column_id: of the column.
        over_words: gives the query over the relation of words whose one column says which meet it;
            made at its first use.
    """

    scan: str
    column_id: int
    over_words: "Callable[[], Query]" = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EarlySubquery:
    """A subquery that is computed before the scans around it.

    Attributes:
        name: of the relation of its values.
        query: the subquery, of one column.
        narrowing: the scan that its values filter; None of a part of another one.
    """

    name: str
    query: "Query"
    narrowing: Narrowing | None


@dataclass(frozen=True, slots=True)
class EarlyForm:
    """The form of a query whose subqueries are computed first; see `pushdown.early_subqueries`.

    Attributes:
        subqueries: they read none of the scans that they filter.
        around: gives the query that reads their values as relations; made at its first use.
    """

    subqueries: tuple[EarlySubquery, ...]
    around: "Callable[[], Query]" = field(compare=False, repr=False)


class AggregateKind(StrEnum):
    """What a pass over the rows of a scan adds up or compares; UNSCALED adds up the integers that
    decimals are stored as."""

    COUNT = "count"
    SUM = "sum"
    UNSCALED = "unscaled"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class GroupAggregate:
    """An aggregate of the cells of a stored column.

    `column_id`: None counts rows; `name`: of the column of its values.
    """

    kind: AggregateKind
    column_id: int | None
    name: str


@dataclass(frozen=True, slots=True)
class SortedGroups:
    """The forms of a query over groups that the scan makes; see `pushdown.sorted_groups`.

    The scan alone decides which rows are grouped only where the values of its predicate's
    parameters are compared exactly (`template.fill`). Both forms are made at their first use, and
    their relation has the columns of the keys, by their names, and those of the aggregates.

    Attributes:
        key_ids: the columns in which the rows of a group are equal.
        is_prefix: whether these are the first ones of the table's key, in its order.
        aggregates: what is computed of each group.
        form: gives the query that reads each group once.
        merging: gives the query that reads parts of groups.
    """

    key_ids: tuple[int, ...]
    is_prefix: bool
    aggregates: tuple[GroupAggregate, ...]
    form: "Callable[[], Query]" = field(compare=False, repr=False)
    merging: "Callable[[], Query]" = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NullFreeForm:
    """A query as it may be computed where some columns have no NULL.

    Attributes:
        sql: as of the query.
        columns: those columns, each as the name of a scan and its own.
    """

    sql: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Query:
    """Rows computed by the engine over scans.

    Attributes:
        sql: the residual statement in the engine's dialect over the scans' names; parameters are
            `$1`, `$2`, ...
        residual: the tree of which `sql` is printed, for the printers of other engines. They copy
            it; nobody changes it.
        scans: the relations it reads.
        parameters: keys of the values of `$1`, `$2`, ... in that order; a key may repeat.
        names: the result's column names, as many as it has columns.
        cacheable: whether the same text gives the same plan under the same catalog.
        expected: rows that come out if the limit of the one scan was enough. Scans drop fewer rows
            than the query, so the rows of a limited scan may be too few.
        summary: what the columns of the one row are, if they are facts about the whole table of
            the one scan; else nothing.
        runtime_filters: by which scans that were read filter those still to be read.
        lists: relations of the values of long IN lists, by name.
        timestamp_parameters: those that are compared with a TIMESTAMP or cast to one; texts among
            their values may have an offset from UTC.
        coded: the same over codes of text columns; None where no group has such a key.
        counted: how many columns it has, where each is the number of the rows of the one scan that
            match and the scan alone decides which do; else 0.
        scanned: the same without the engine; None where it has to do more than hand rows on.
        compared_types: the types of the number columns that `$1`, `$2`, ... are compared with, or
            the columns that they are united with; None for none; see
            `planner.functions.decimal_values`.
        compared: the parameters that are compared with stored columns, once for each of these.
        assigned: the parameters that become cells of columns, with these.
        computed: from parameters, the numbers that get one type with decimals.
        early: the same with subqueries that are computed first; None where there are none.
        top: the first rows that it needs of its one table; None for all.
        has_states: whether it may want the form of `planner.functions.aggregate_states`.
        null_free: the same where columns have no NULL; None where that makes no difference.
        sorted_groups: the same over groups that the scan makes; None where it cannot make them.
        word_conditions: of its scans, which words of columns may decide.
    """

    sql: str
    residual: "exp.Expr" = field(compare=False, repr=False)
    scans: tuple[Scan, ...]
    parameters: tuple[ParameterKey, ...]
    names: tuple[str, ...]
    cacheable: bool = True
    expected: int | None = None
    summary: tuple[Summary, ...] = ()
    runtime_filters: tuple[RuntimeFilter, ...] = ()
    lists: tuple[tuple[str, pa.Table], ...] = ()
    timestamp_parameters: frozenset[ParameterKey] = frozenset()
    coded: CodedGroups | None = None
    compared_types: tuple[DataType | United | None, ...] = ()
    compared: tuple[Parameter, ...] = ()
    assigned: tuple[Parameter, ...] = ()
    computed: tuple[ComputedNumbers, ...] = ()
    scanned: ScannedRows | None = None
    counted: int = 0
    early: EarlyForm | None = None
    top: TopRows | None = None
    has_states: bool = False
    null_free: NullFreeForm | None = None
    sorted_groups: SortedGroups | None = None
    word_conditions: tuple[WordCondition, ...] = ()

    def is_cut_short(self, scanned: int, rows: int) -> bool:
        """Whether the scan must go further: its limit left out rows that the query needs.

        `scanned`: rows that the one scan gave; `rows`: rows that the query made of them.
        """
        if self.expected is None or rows >= self.expected:
            return False
        return any(scan.limit is not None and scanned >= scan.limit for scan in self.scans)

    def has_first_rows(self, rows: int) -> bool:
        """Whether so many rows of a narrowed form of it are all that it has; see `TopRows`."""
        return self.top is not None and rows >= self.top.expected

    @property
    def is_selection(self) -> bool:
        """Whether its rows are all that a condition on its table leaves, or the first of them."""
        scanned = self.scanned
        if scanned is None:
            return False
        (scan,) = self.scans
        if scan.predicate is None or scan.limit is not None:
            return False
        is_sorted = scanned.order is not ScanOrder.NONE or bool(scanned.sort)
        return not is_sorted or (scanned.order is ScanOrder.NONE and scanned.limit is not None)

    def unlimited(self) -> "Query":
        """The same with a scan of every row."""
        scans = (replace(scan, limit=None, order=ScanOrder.NONE) for scan in self.scans)
        return replace(self, scans=tuple(scans), expected=None)
