"""The relations of a FROM clause, the scope that they make, and the columns that are used.

A relation lists the columns of `*` and finds a column by name. It is frozen: what binding learns of
it later stands beside it in the `BoundQuery`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.using_lists import is_comma
from pykudu_sql.planner.plan.frame_table import is_stored
from pykudu_sql.planner.plan.query_plans import HistoryWindow
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.types.hybrid_time import SnapshotBound
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import DataType
from pykudu_sql.storage.errors import ProgrammingError

UNNAMED_SUBQUERY = "subquery "  # begins the name of one without an alias; a number follows


@dataclass(frozen=True, eq=False, slots=True)
class TableReference:
    """One mention of a stored table, of one of the system or of a frame.

    Attributes:
        node: the mention in the tree; the rewriter puts the scan's name there.
        alias: the name its columns are qualified with, lower case.
        table: the table at the moment read.
        bound: that moment, None for the transaction's own.
        history: what of the table's history is read instead of its rows at one moment.
        database: that may stand before the alias in a qualifier, which is the table's own name
            then; None where the statement gives it another.
    """

    node: exp.Table
    alias: str
    table: TableInfo
    bound: SnapshotBound | None = None
    history: HistoryWindow | None = None
    database: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether these are the rows of a stored table at one moment, each key once."""
        return self.history is None and is_stored(self.table)

    def column_names(self) -> tuple[str, ...]:
        """The columns `*` shows."""
        return tuple(column.name for column in self.table.schema.visible_columns)

    def all_names(self) -> tuple[str, ...]:
        """The columns that can be named, the hidden counter too."""
        return tuple(self.table.schema.by_name)

    def column(self, name: str) -> ColumnSchema:
        """The column of a name."""
        return self.table.schema.by_name[name]


@dataclass(frozen=True, eq=False, slots=True)
class OutputColumn:
    """A column of a query's result.

    Attributes:
        name: as the result shows it; matched in lower case.
        origins: columns of relations that a `*` brought here, noted as used only when this one is.
        branches: what it is in each SELECT of the query, where that is known of all of them; see
            `planner.lineage`.
        projections: the expressions and the columns of relations whose common type it has, one for
            each SELECT; none where only the engine knows.
    """

    name: str
    origins: "Origins" = ()
    branches: tuple["Branch", ...] = ()
    projections: "Projections" = ()

    def stored_type(self) -> DataType | None:
        """The type of the stored columns that it is; None where it is computed."""
        types = [stored_type(branch.relation, branch.name) for branch in self.branches]
        return types[0] if types else None


@dataclass(frozen=True, eq=False, slots=True)
class DerivedTable:
    """A subquery, a WITH query, VALUES or a table function.

    Attributes:
        alias: the name its columns are qualified with, lower case.
        columns: it has.
        database: see `TableReference`; views have one.
        node: the item of FROM that can be given another alias.
    """

    alias: str
    columns: Sequence[OutputColumn]
    database: str | None = None
    node: exp.Expr | None = None

    @property
    def scopes(self) -> "list[Scope]":
        """The SELECTs that its rows come from."""
        return [branch.scope for branch in self.columns[0].branches] if self.columns else []

    def column(self, name: str) -> OutputColumn | None:
        """The column of a name; None where several have it."""
        matches = [column for column in self.columns if column.name.lower() == name]
        return matches[0] if len(matches) == 1 else None

    def column_names(self) -> tuple[str, ...]:
        """The columns `*` shows."""
        return tuple(column.name.lower() for column in self.columns)

    def all_names(self) -> tuple[str, ...]:
        """The columns that can be named."""
        return self.column_names()


Relation = TableReference | DerivedTable
NAMED_DATABASE = "pykudu_database"  # in the meta of a subquery in place of a table of one
Origins = tuple[tuple[Relation, str], ...]
Projections = tuple[exp.Expr | tuple[Relation, str], ...]
# A relation, and a column of it; no relation where USING joins it.
ColumnReference = tuple[Relation | None, str]
ColumnReferences = frozenset[ColumnReference]


@dataclass(frozen=True, eq=False, slots=True)
class Branch:
    """What a column of a query is in one of its SELECTs.

    Attributes:
        relation: whose column it shows as it is; None where a filter on the query's column would
            not be the same as one on the relation's.
        name: of that column.
    """

    scope: "Scope"
    relation: Relation | None = None
    name: str = ""


def stored_type(relation: Relation | None, name: str) -> DataType | None:
    """The type of a relation's column, None if it is no stored one."""
    if isinstance(relation, TableReference):
        return relation.column(name).type
    column = relation.column(name) if relation is not None else None
    return None if column is None else column.stored_type()


MergedColumn = tuple[str, frozenset[Relation]]
_NO_RELATION: frozenset[Relation] = frozenset()


@dataclass(frozen=True, eq=False, slots=True)
class JoinStep:
    """One step of a FROM clause from left to right.

    Attributes:
        join: the join's node; None for the first item.
        relations: what the step adds; several for a parenthesised join.
        nested: whether it lies inside parentheses.
    """

    join: exp.Join | None
    relations: Sequence[Relation]
    nested: bool = False

    @property
    def is_comma(self) -> bool:
        """Whether a comma stands before it: what JOIN says behind is of nothing before."""
        return self.join is not None and is_comma(self.join)


@dataclass(frozen=True, slots=True)
class Aliases:
    """The names that entries of a SELECT list have given so far.

    `first`: the number of the first entry of each name, lower case; `entries`: how many count.
    """

    first: Mapping[str, int]
    entries: int

    def __contains__(self, name: str) -> bool:
        return self.first.get(name, self.entries) < self.entries


_NO_ALIASES = Aliases({}, 0)


def first_of_each_alias(select: exp.Select) -> Mapping[str, int]:
    """The aliases of a SELECT list, lower case, with the number of the first entry of each."""
    first: dict[str, int] = {}
    for number, item in enumerate(select.expressions):
        if isinstance(item, exp.Alias):
            first.setdefault(item.alias.lower(), number)
    return first


@dataclass(frozen=True, eq=False, slots=True)
class Scope:
    """The names that a part of one SELECT can see.

    Attributes:
        outer: the scope around it, for correlated subqueries.
        relations: of the FROM clause, left to right.
        hidden: relations that only their own ON clause sees (the right side of SEMI and ANTI).
        merged: what USING or NATURAL made one column, which needs no qualifier: the names and the
            relations whose columns they are.
        steps: how the relations are joined.
        aliases: names of the SELECT list.
        repeated: names of the SELECT list that mean several things.
    """

    outer: "Scope | None" = None
    relations: tuple[Relation, ...] = ()
    hidden: frozenset[Relation] = frozenset()
    merged: frozenset[MergedColumn] = frozenset()
    steps: tuple[JoinStep, ...] = ()
    aliases: Aliases = _NO_ALIASES
    repeated: Set[str] = frozenset()

    def visible(self, at: int = 0) -> Sequence[Relation]:
        """The relations whose columns can be named, left to right. `at`: number of the first."""
        if not self.hidden:
            return self.relations[at:]
        return [relation for relation in self.relations[at:] if relation not in self.hidden]

    def relations_with(self, name: str) -> list[Relation]:
        """The relations that have a column of a name."""
        return [relation for relation in self.visible() if name in relation.all_names()]

    def merged_with(self, relation: Relation, name: str) -> frozenset[Relation]:
        """The relations whose columns of a name are one with that of a relation."""
        return next(
            (each for n, each in self.merged if n == name and relation in each), _NO_RELATION
        )

    def owners(self, name: str) -> tuple[Sequence[Relation], bool]:
        """The relations that a name without qualifier is of, and whether it is one column."""
        return self._owners(name, self.visible())

    def _owners(self, name: str, among: Sequence[Relation]) -> tuple[Sequence[Relation], bool]:
        """A column that USING made goes before columns of other relations."""
        owners = [relation for relation in among if name in relation.all_names()]
        groups = [each for n, each in self.merged if n == name and not each.isdisjoint(owners)]
        if len(groups) == 1:
            return [relation for relation in owners if relation in groups[0]], True
        return owners, len(owners) == 1

    def with_merged(self, name: str, *sides: Sequence[Relation]) -> "Scope":
        """The scope where the columns of a name of several sides are one."""
        group = {relation for side in sides for relation in self._owners(name, side)[0]}
        joined = {each for each in self.merged if each[0] == name and each[1] & group}
        united = name, frozenset(group).union(*(relations for _, relations in joined))
        return replace(self, merged=(self.merged - joined) | {united})

    def star(self) -> list[tuple[str, Origins]]:
        """The columns of `*` with their origins; columns joined by USING come once."""
        result: list[tuple[str, Origins]] = []
        places: dict[MergedColumn, int] = {}
        for relation in self.visible():
            for name in relation.column_names():
                group = self.merged_with(relation, name)
                at = places.setdefault((name, group), len(result)) if group else len(result)
                if at < len(result):
                    result[at] = (name, (*result[at][1], (relation, name)))
                else:
                    result.append((name, ((relation, name),)))
        return result

    def chain(self) -> Iterator["Scope"]:
        """This scope and those around it, inmost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


def absent_relations(steps: Sequence[JoinStep]) -> Iterator[Relation]:
    """The relations that some outer join may replace by NULLs."""
    everything = [relation for step in steps for relation in step.relations]
    before: list[Relation] = []
    for step in steps:
        side = step.join.side if step.join is not None else ""
        if side in ("LEFT", "FULL"):
            yield from step.relations
        if side in ("RIGHT", "FULL"):
            yield from everything if step.nested else before
        before += step.relations


class ColumnUses:
    """Collects the ids of columns that are needed of each mention of a table.

    Uses travel down: a use of a derived table's column becomes uses of what its `*` brought in, so
    `SELECT a FROM (SELECT * FROM t)` reads one column of t.
    """

    def __init__(self) -> None:
        self._column_ids: dict[TableReference, set[int]] = {}
        self._value_ids: dict[TableReference, set[int]] = {}

    def note(self, relation: Relation, name: str) -> None:
        """Note that a column of a relation is needed."""
        if isinstance(relation, TableReference):
            column_id = relation.column(name).id
            self._column_ids.setdefault(relation, set()).add(column_id)
            self._value_ids.setdefault(relation, set()).add(column_id)
        else:
            self.note_outputs(each for each in relation.columns if each.name.lower() == name)

    def note_null_test(self, relation: Relation, name: str) -> None:
        """Note that of a column of a relation only is needed whether it is NULL."""
        if isinstance(relation, TableReference):
            self._column_ids.setdefault(relation, set()).add(relation.column(name).id)
        else:
            self.note(relation, name)

    def note_outputs(self, columns: Iterable[OutputColumn]) -> None:
        """Note that columns of a query are needed."""
        for column in columns:
            for relation, name in column.origins:
                self.note(relation, name)

    def column_ids(self) -> Mapping[TableReference, frozenset[int]]:
        """The columns that are needed so far; mentions without any are left out."""
        return {reference: frozenset(ids) for reference, ids in self._column_ids.items()}

    def null_tested_ids(self) -> Mapping[TableReference, frozenset[int]]:
        """Those of them of which nothing is needed but whether they are NULL."""
        return {
            reference: frozenset(ids - self._value_ids.get(reference, set()))
            for reference, ids in self._column_ids.items()
        }

    def renamed(
        self, columns: Sequence[OutputColumn], alias: exp.TableAlias | None
    ) -> list[OutputColumn]:
        """Columns under the names of an alias's column list; all of them are used if there is one.

        Raises ProgrammingError: there are more names than columns.
        """
        names = [identifier.name.lower() for identifier in (alias.columns if alias else ())]
        if alias is None or not names:
            return list(columns)
        if len(names) > len(columns):
            raise ProgrammingError(
                f"'{alias.name.lower()}' has {noun_count(len(columns), 'column')}, "
                f"its alias names {len(names)}",
                span=node_span(alias.columns[len(columns)]),
                sqlstate="42P10",
            )
        self.note_outputs(columns)
        rest = [column.name for column in columns[len(names) :]]
        return [
            OutputColumn(name, branches=column.branches, projections=column.projections)
            for name, column in zip((*names, *rest), columns, strict=False)
        ]


def common_columns(left: Sequence[Relation], right: Sequence[Relation]) -> list[str]:
    """The columns of a NATURAL join, in the order of its left side.

    Raises ProgrammingError: the sides have none in common.
    """
    on_right = {name for relation in right for name in relation.column_names()}
    names = [name for relation in left for name in relation.column_names() if name in on_right]
    if not names:
        raise ProgrammingError("NATURAL JOIN of tables without a common column", sqlstate="42703")
    return list(dict.fromkeys(names))
