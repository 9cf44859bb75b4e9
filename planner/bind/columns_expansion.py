"""`COLUMNS(...)` of DuckDB: an entry of the SELECT list, once for each of several columns.

`SELECT min(COLUMNS(* EXCLUDE (id))), max(COLUMNS('price.*'))` becomes one entry a column before
its names are bound, so all that follows sees plain columns. What the parentheses may hold: `*` and
`t.*`, both with EXCLUDE, a list of names, and a text that is a regular expression (RE2), found
anywhere in a name whatever its case.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import pyarrow as pa
from sqlglot import exp

from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.bind.qualifiers import column_of, qualified_relation
from pykudu_sql.planner.bind.relations import ColumnReference, Relation, Scope
from pykudu_sql.planner.parse.guards import guard_words
from pykudu_sql.planner.parse.headings import name_expanded
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.unsupported import unsupported_clause
from pykudu_sql.planner.tree_nodes import all_nodes, nodes_of
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.errors import InvalidValueError, SourceSpan, UndefinedColumnError


def expand_columns(select: exp.Select, scope: Scope) -> None:
    """Write the entries of a SELECT list that have COLUMNS once for each column, in place.

    Raises UndefinedColumnError: no column matches, or one that is named is unknown;
    InvalidValueError: a text is no regular expression; NotSupportedError: the parentheses hold
    something else; StatementTooComplexError: the list becomes too long.
    """
    if not any(item.find(exp.Columns) for item in select.expressions):
        return
    expander = _Expander(scope)
    items: list[exp.Expr] = []
    for item in select.expressions:
        items.extend(expander.expand(item))
    select.set("expressions", items)


class _Expander:
    """Expands the entries of one SELECT list."""

    def __init__(self, scope: Scope) -> None:
        """Nothing is expanded yet."""
        self._scope = scope
        self._every = _every(scope)
        self._name_counts = Counter(name for _, name in self._every)
        self._words = 0

    def expand(self, item: exp.Expr) -> Sequence[exp.Expr]:
        """An entry for each column; one that has no COLUMNS of its own as it is."""
        marks = _marks(_wrapped(item))
        if not marks:
            return (item,)
        for mark in marks:
            if mark.args.get("unpack"):
                raise unsupported_clause("*COLUMNS(...)", node_span(mark))
        first, *others = (self._columns_of(node) for node in marks)
        if any(names != first for names in others):
            raise unsupported_clause("COLUMNS(...)", node_span(marks[0]))
        self._words += sum(1 for _ in all_nodes(item)) * len(first)
        guard_words(self._words)
        return [self._with_column(item, *named) for named in first]

    def _excluded_columns(
        self, column: exp.Expr, covered: Sequence[ColumnReference], span: SourceSpan | None
    ) -> list[ColumnReference]:
        """The columns that a name in EXCLUDE means."""
        name = column.name.lower()
        _check_names([name], covered, span)
        matches = [named for named in covered if named[1] == name]
        if not isinstance(column, exp.Column) or not column.table:
            return matches
        relation = qualified_relation(column, self._scope)
        of_relation = [named for named in matches if named[0] in (relation, None)]
        _check_names([name], of_relation, span)
        return of_relation

    def _with_column(self, item: exp.Expr, relation: Relation | None, name: str) -> exp.Expr:
        """A copy of an entry with a column for each COLUMNS of its own."""
        wrapped = _wrapped(item)
        for node in _marks(wrapped):
            column = exp.column(name)
            node.replace(column if relation is None else column_of(relation, name, self._scope))
        entry: exp.Expr = wrapped.expressions[0].pop()
        name_expanded(entry, name, item)
        return entry

    def _columns_of(self, node: exp.Columns) -> list[ColumnReference]:
        """The columns that one COLUMNS selects; the relation only where a name has several."""
        span = node_span(node)
        selected = self._selected(node.this, span)
        if not selected:
            names = ", ".join(name for _, name in self._every[:20])
            raise UndefinedColumnError(
                "COLUMNS(...) means no column",
                hint=f"columns are {names}" if names else None,
                span=span,
            )
        return [
            (relation if self._name_counts[name] > 1 else None, name) for relation, name in selected
        ]

    def _selected(self, pattern: exp.Expr, span: SourceSpan | None) -> list[ColumnReference]:
        star = pattern.this if isinstance(pattern, exp.Column) else pattern
        changed = star.args.get("replace") or star.args.get("rename")
        if isinstance(star, exp.Star) and not changed:
            of_relation = self._every
            if isinstance(pattern, exp.Column) and pattern.table:
                relation = qualified_relation(pattern, self._scope)
                of_relation = [(relation, name) for name in relation.column_names()]
            excluded = [
                named
                for column in star.args.get("except_") or ()
                for named in self._excluded_columns(column, of_relation, span)
            ]
            return [named for named in of_relation if named not in excluded]
        if isinstance(pattern, exp.Array) and all(map(_is_text, pattern.expressions)):
            listed = list(dict.fromkeys(literal.name.lower() for literal in pattern.expressions))
            _check_names(listed, self._every, span)
            return sorted(
                (named for named in self._every if named[1] in listed),
                key=lambda named: listed.index(named[1]),
            )
        if _is_text(pattern):
            matching = _matching(pattern.name, self._every)
            return [named for named in self._every if named[1] in matching]
        raise unsupported_clause("COLUMNS(...)", span)


def _wrapped(item: exp.Expr) -> exp.Tuple:
    """A copy inside of another node, so that all of it can be replaced."""
    return exp.Tuple(expressions=[item.copy()])


def _marks(wrapped: exp.Tuple) -> list[exp.Columns]:
    """The COLUMNS of an entry, without those of queries inside of it."""
    nodes = nodes_of(wrapped, exp.Columns)
    return [node for node in nodes if node.find_ancestor(exp.Select) is None]


def _every(scope: Scope) -> list[ColumnReference]:
    """The columns of `*`; those joined by USING come once."""
    references: dict[ColumnReference, None] = {}
    for name, ((relation, _), *others) in scope.star():
        is_merged = bool(others) and scope.owners(name)[1]
        references[None if is_merged else relation, name] = None
    return list(references)


def _check_names(
    names: Iterable[str], every: Sequence[ColumnReference], span: SourceSpan | None
) -> None:
    existing = dict.fromkeys(name for _, name in every)
    for name in names:
        if name not in existing:
            raise undefined_column(name, existing, span)


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _matching(pattern: str, every: Sequence[ColumnReference]) -> frozenset[str]:
    """The names in which a regular expression is found."""
    names = pa.array([name for _, name in every], pa.string())
    try:
        matches = pc.match_substring_regex(names, pattern, ignore_case=True)
    except pa.ArrowInvalid as error:
        raise InvalidValueError(
            f"'{pattern}' is no regular expression", hint=str(error), sqlstate="2201B"
        ) from error
    return frozenset(names.filter(matches).to_pylist())
