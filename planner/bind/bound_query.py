"""The bound query: the tree of a statement with the bindings of its names.

The binding of a node stands in its `meta`, read by the accessors of this module: so it stays with
the node while passes move it, and its copies have it too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Self

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.names import check_ambiguous
from pykudu_sql.planner.bind.relations import (
    Aliases,
    ColumnReferences,
    Origins,
    OutputColumn,
    Projections,
    Relation,
    Scope,
    TableReference,
    stored_type,
)
from pykudu_sql.planner.operands.value import Parameter, ParameterKey
from pykudu_sql.storage.common.types.types import DataType, Kind

_BINDING = "pykudu_binding"
_RECEIVER = "pykudu_receiver"
_FIELD = "pykudu_field"
_COLUMNS = "pykudu_columns"


class _SharedNote:
    """What copies of a node have in common with it."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@dataclass(frozen=True, eq=False, slots=True)
class ColumnBinding(_SharedNote):
    """What a column of a bound tree is.

    `relation`: that has it; `name`: of its column, lower case; `origins`: the columns that
    it stands for, several where USING joins them.
    """

    relation: Relation
    name: str
    origins: Origins

    @property
    def type(self) -> DataType | None:
        """Of the stored column that it is; None where it is computed."""
        return stored_type(self.relation, self.name)


@dataclass(frozen=True, eq=False, slots=True)
class FieldBinding(_SharedNote):
    """A field of a struct that a query computes.

    Attributes:
        struct: the columns that are the struct; several where USING joins them.
        path: from the struct to the field.
    """

    struct: Origins
    path: tuple[exp.Expr, ...]


@dataclass(frozen=True, eq=False, slots=True)
class _QueryColumns(_SharedNote):
    columns: tuple[OutputColumn, ...]


def bind_column(column: exp.Column, relations: Sequence[Relation]) -> None:
    """Note which relation a column belongs to; several where USING joins them.

    Raises ProgrammingError: a relation has several columns of the name.
    """
    name = column.name.lower()
    for relation in relations:
        check_ambiguous(name, relation, column)
    origins = tuple((relation, name) for relation in relations)
    column.meta[_BINDING] = ColumnBinding(relations[0], name, origins)


def bind_field(column: exp.Column, binding: FieldBinding) -> None:
    """Note that a column is a field of a struct."""
    column.meta[_FIELD] = binding


def field_of(node: exp.Expr) -> FieldBinding | None:
    """The field of a struct that a column is; None of all else."""
    binding: FieldBinding | None = node.meta_get(_FIELD)
    return binding


def note_columns(query: exp.Expr, columns: Sequence[OutputColumn]) -> None:
    """Note the columns of a query at its node."""
    query.meta[_COLUMNS] = _QueryColumns(tuple(columns))


def columns_of(query: exp.Expr) -> tuple[OutputColumn, ...]:
    """The columns of a query; none of what is no bound query."""
    noted: _QueryColumns | None = query.meta_get(_COLUMNS)
    return () if noted is None else noted.columns


def binding_of(node: exp.Expr) -> ColumnBinding | None:
    """What a node is as a column; None for a name of the SELECT list and for all else."""
    binding: ColumnBinding | None = node.meta_get(_BINDING)
    return binding


def note_receiver(node: exp.Expr, parameter: Parameter) -> None:
    """Note which column a placeholder is assigned to."""
    node.meta[_RECEIVER] = parameter


def receiver_of(node: exp.Expr) -> Parameter | None:
    """A placeholder with the column that it is assigned to; None if it is to none."""
    noted: Parameter | None = node.meta_get(_RECEIVER)
    return noted


def relation_of(node: exp.Expr) -> Relation | None:
    """The relation that a column belongs to, None if `binding_of` has none."""
    binding = binding_of(node)
    return None if binding is None else binding.relation


def table_of(node: exp.Expr) -> TableReference | None:
    """The mention of a stored table that a column belongs to, None for derived ones."""
    relation = relation_of(node)
    return relation if isinstance(relation, TableReference) else None


@dataclass(frozen=True, eq=False, slots=True)
class BoundSelect:
    """A SELECT with its names.

    Attributes:
        node: in the tree.
        scope: the relations of its FROM clause, as `Branch` has it.
        aliases: names of its SELECT list.
        groups: columns that a filter may be on before rows are gathered in groups as well as
            behind; None without GROUP BY.
    """

    node: exp.Select
    scope: Scope
    aliases: Aliases
    groups: ColumnReferences | None


@dataclass(frozen=True, eq=False, slots=True)
class BoundQuery:
    """A query in which every column has its relation; see `binding_of`.

    Attributes:
        tree: of the query. A pass owns it and may change it in place.
        references: the mentions of stored tables, in the order of the text.
        qualified: columns and stars with a qualifier, and the relation that it names.
        selects: of the tree, outer ones before those in them.
        stars: each `*` of a SELECT list with the stored tables it covers.
        names: the result's column names.
        used: ids of the columns that are needed of each mention; none of one that is left out.
        null_tested: those of them of which nothing is needed but whether they are NULL.
        starred: the mentions whose columns a `*` shows, so that their scans must have no others.
        engine_aliases: names of relations in the engine's SQL, where these are not their aliases.
        volatile: whether the moment of planning went into it.
        views: full names of the views that are read, also by other views.
        timestamp_parameters: those that are compared with a TIMESTAMP or cast to one.
        maybe_absent: relations in place of whose rows an outer join may put NULLs.
        addressed: the mention whose row addresses the query shows, for a statement that writes to
            them; None for none.
        supplies: what the columns are of relations that no scan gives, but the executor.
    """

    tree: exp.Expr
    references: tuple[TableReference, ...] = ()
    qualified: tuple[tuple[exp.Column, Relation], ...] = ()
    selects: tuple[BoundSelect, ...] = ()
    stars: tuple[tuple[exp.Star, tuple[TableReference, ...]], ...] = ()
    names: tuple[str, ...] = ()
    used: Mapping[TableReference, frozenset[int]] = field(default_factory=dict)
    starred: frozenset[TableReference] = frozenset()
    engine_aliases: Mapping[Relation, str] = field(default_factory=dict)
    volatile: bool = False
    views: frozenset[str] = frozenset()
    timestamp_parameters: frozenset[ParameterKey] = frozenset()
    maybe_absent: frozenset[Relation] = frozenset()
    addressed: TableReference | None = None
    supplies: Projections = ()
    null_tested: Mapping[TableReference, frozenset[int]] = field(default_factory=dict)

    def scope_of(self, select: exp.Select) -> Scope:
        """The relations of a SELECT of the tree."""
        return next(each.scope for each in self.selects if each.node is select)

    def reads_decimals(self) -> bool:
        """Whether a column of decimals is needed."""
        return any(
            reference.table.schema.by_id[column_id].type.kind is Kind.DECIMAL
            for reference, column_ids in self.used.items()
            for column_id in column_ids
        )

    def engine_alias(self, relation: Relation) -> str:
        """The name of a relation in the engine's SQL."""
        return self.engine_aliases.get(relation, relation.alias)

    def with_volatility(self, volatile: bool) -> "BoundQuery":
        """The same, whose statement depends on the moment of planning where `volatile` says so."""
        return replace(self, volatile=self.volatile or volatile)
