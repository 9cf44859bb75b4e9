"""A query whose names are resolved: the tree of the statement, and what binding learnt of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from pykudu_sql.planner.bind.sources import Frame, Source, TableReference
from pykudu_sql.planner.plan.value import ParameterKey


@dataclass(frozen=True, eq=False, slots=True)
class BoundQuery:
    """A query in which every column has its source.

    Attributes:
        tree: of the query. Whoever rewrites the query owns it and may change it in place.
        references: the mentions of stored tables, in the order of the text.
        owners: the source of each column node that has one, by node identity.
        qualified: columns and stars with a qualifier, and the source that it names.
        fields: what looks like a column and is a field of a struct, and the struct's source.
        frames: each SELECT with its names.
        stars: each `*` of a SELECT list with the stored tables it covers.
        names: the result's column names.
        volatile: whether the moment of planning went into it.
        views: full names of the views that are read, also by other views.
        moments: parameters that meet a TIMESTAMP.
    """

    tree: exp.Expr
    references: tuple[TableReference, ...] = ()
    owners: Mapping[int, Source] = field(default_factory=dict)
    qualified: tuple[tuple[exp.Column, Source], ...] = ()
    fields: tuple[tuple[exp.Column, Source], ...] = ()
    frames: tuple[tuple[exp.Select, Frame], ...] = ()
    stars: tuple[tuple[exp.Star, tuple[TableReference, ...]], ...] = ()
    names: tuple[str, ...] = ()
    volatile: bool = False
    views: frozenset[str] = frozenset()
    moments: frozenset[ParameterKey] = frozenset()

    def owner(self, column: exp.Column) -> TableReference | None:
        """The stored table a column belongs to, None for derived ones."""
        source = self.owners.get(id(column))
        return source if isinstance(source, TableReference) else None

    def source(self, column: exp.Column) -> Source | None:
        """The source a column belongs to, None for a name of the SELECT list."""
        return self.owners.get(id(column))

    def with_volatility(self, volatile: bool) -> "BoundQuery":
        """The same, whose statement depends on the moment of planning where `volatile` says so."""
        return replace(self, volatile=self.volatile or volatile)
