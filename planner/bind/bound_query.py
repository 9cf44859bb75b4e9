"""A query whose names are resolved: the tree of the statement, and what binding learnt of it.

What is known of one node stands in its `meta`, under the accessors of this module: so it stays with
the node while passes move it, and its copies have it too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from pykudu_sql.planner.bind.sources import Frame, OutputColumn, Source, TableReference, stored_type
from pykudu_sql.planner.plan.value import Parameter, ParameterKey
from pykudu_sql.storage.common.types.types import DataType

_BINDING = "pykudu_binding"
_RECEIVER = "pykudu_receiver"


@dataclass(frozen=True, eq=False, slots=True)
class ColumnBinding:
    """What a column of a bound tree is.

    Attributes:
        source: that has it.
        name: of the source's column, lower case.
    """

    source: Source
    name: str

    @property
    def type(self) -> DataType | None:
        """Of the stored column that it is; None where it is computed."""
        return stored_type(self.source, self.name)

    @property
    def nullable(self) -> bool:
        """Whether it may be NULL, as far as the catalog and the joins tell."""
        if self.source.maybe_absent or not isinstance(self.source, TableReference):
            return True
        return self.source.column(self.name).nullable

    def __deepcopy__(self, memo: dict[int, Any]) -> "ColumnBinding":
        """A copy of a node is a column of the same source."""
        return self


def bind_column(column: exp.Column, source: Source) -> None:
    """Note which source a column belongs to."""
    column.meta[_BINDING] = ColumnBinding(source, column.name.lower())


def binding_of(node: exp.Expr) -> ColumnBinding | None:
    """What a node is as a column; None for a name of the SELECT list and for all else."""
    found: ColumnBinding | None = node.meta_get(_BINDING)
    return found


def note_receiver(node: exp.Expr, parameter: Parameter) -> None:
    """Note which column a placeholder is assigned to."""
    node.meta[_RECEIVER] = parameter


def receiver_of(node: exp.Expr) -> Parameter | None:
    """A placeholder with the column that it is assigned to; None if it is to none."""
    noted: Parameter | None = node.meta_get(_RECEIVER)
    return noted


def source_of(node: exp.Expr) -> Source | None:
    """The source that a column belongs to, None if `binding_of` has none."""
    found = binding_of(node)
    return None if found is None else found.source


def table_of(node: exp.Expr) -> TableReference | None:
    """The mention of a stored table that a column belongs to, None for derived ones."""
    source = source_of(node)
    return source if isinstance(source, TableReference) else None


@dataclass(frozen=True, eq=False, slots=True)
class BoundQuery:
    """A query in which every column has its source; see `binding_of`.

    Attributes:
        tree: of the query. Whoever rewrites the query owns it and may change it in place.
        references: the mentions of stored tables, in the order of the text.
        qualified: columns and stars with a qualifier, and the source that it names.
        fields: what looks like a column and is a field of a struct, and the struct's source.
        frames: each SELECT with its names.
        stars: each `*` of a SELECT list with the stored tables it covers.
        outputs: each query with its columns, those of queries inside of it first.
        names: the result's column names.
        volatile: whether the moment of planning went into it.
        views: full names of the views that are read, also by other views.
        moments: parameters that meet a TIMESTAMP.
    """

    tree: exp.Expr
    references: tuple[TableReference, ...] = ()
    qualified: tuple[tuple[exp.Column, Source], ...] = ()
    fields: tuple[tuple[exp.Column, Source], ...] = ()
    frames: tuple[tuple[exp.Select, Frame], ...] = ()
    stars: tuple[tuple[exp.Star, tuple[TableReference, ...]], ...] = ()
    outputs: tuple[tuple[exp.Expr, Sequence[OutputColumn]], ...] = ()
    names: tuple[str, ...] = ()
    volatile: bool = False
    views: frozenset[str] = frozenset()
    moments: frozenset[ParameterKey] = frozenset()

    def with_volatility(self, volatile: bool) -> "BoundQuery":
        """The same, whose statement depends on the moment of planning where `volatile` says so."""
        return replace(self, volatile=self.volatile or volatile)
