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

from pykudu_sql.planner.bind.names import undefined_column
from pykudu_sql.planner.bind.qualifiers import column_of, qualified_source
from pykudu_sql.planner.bind.sources import Frame, Source
from pykudu_sql.planner.parse.guards import guard_words
from pykudu_sql.planner.parse.not_offered import clause_not_offered
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.errors import InvalidValueError, SourceSpan, UndefinedColumnError

# A source, and a column of it; no source where USING joins it.
Named = tuple[Source | None, str]


def spread_columns(select: exp.Select, frame: Frame) -> None:
    """Write the entries of a SELECT list that have COLUMNS once for each column, in place.

    Args:
        select: the query.
        frame: its sources.

    Raises:
        UndefinedColumnError: no column is meant, or one that is named is unknown.
        InvalidValueError: a text is no regular expression.
        NotSupportedError: the parentheses hold something else.
        StatementTooComplexError: the list becomes too long.
    """
    if not any(item.find(exp.Columns) for item in select.expressions):
        return
    spreader = _Spreader(frame)
    items: list[exp.Expr] = []
    for item in select.expressions:
        items.extend(spreader.spread(item))
    select.set("expressions", items)


class _Spreader:
    """Spreads the entries of one SELECT list."""

    def __init__(self, frame: Frame) -> None:
        """Nothing is spread yet."""
        self._frame = frame
        self._every = _every(frame)
        self._holders = Counter(name for _, name in self._every)
        self._words = 0

    def spread(self, item: exp.Expr) -> Sequence[exp.Expr]:
        """An entry for each column; one that has no COLUMNS of its own as it is."""
        marks = _marks(_wrapped(item))
        if not marks:
            return (item,)
        for mark in marks:
            if mark.args.get("unpack"):
                raise clause_not_offered("*COLUMNS(...)", node_span(mark))
        first, *others = (self._meant(node) for node in marks)
        if any(names != first for names in others):
            raise clause_not_offered("COLUMNS(...)", node_span(marks[0]))
        self._words += sum(1 for _ in item.walk()) * len(first)
        guard_words(self._words)
        return [self._with_column(item, *named) for named in first]

    def _left_out(
        self, column: exp.Expr, covered: Sequence[Named], position: SourceSpan | None
    ) -> list[Named]:
        """The columns that a name in EXCLUDE means."""
        name = column.name.lower()
        _check_known([name], covered, position)
        found = [named for named in covered if named[1] == name]
        if not isinstance(column, exp.Column) or not column.table:
            return found
        source = qualified_source(column, self._frame)
        of_source = [named for named in found if named[0] in (source, None)]
        _check_known([name], of_source, position)
        return of_source

    def _with_column(self, item: exp.Expr, source: Source | None, name: str) -> exp.Expr:
        """A copy of an entry with a column for each COLUMNS of its own."""
        wrapped = _wrapped(item)
        for node in _marks(wrapped):
            column = exp.column(name)
            node.replace(column if source is None else column_of(source, name, self._frame))
        entry: exp.Expr = wrapped.expressions[0].pop()
        return entry

    def _meant(self, node: exp.Columns) -> list[Named]:
        """The columns that one COLUMNS stands for; the source only where a name has several."""
        position = node_span(node)
        found = self._chosen(node.this, position)
        if not found:
            known = ", ".join(name for _, name in self._every[:20])
            raise UndefinedColumnError(
                "COLUMNS(...) means no column",
                hint=f"columns are {known}" if known else None,
                position=position,
            )
        return [(source if self._holders[name] > 1 else None, name) for source, name in found]

    def _chosen(self, pattern: exp.Expr, position: SourceSpan | None) -> list[Named]:
        star = pattern.this if isinstance(pattern, exp.Column) else pattern
        changed = star.args.get("replace") or star.args.get("rename")
        if isinstance(star, exp.Star) and not changed:
            of_source = self._every
            if isinstance(pattern, exp.Column) and pattern.table:
                source = qualified_source(pattern, self._frame)
                of_source = [(source, name) for name in source.column_names()]
            left_out = [
                named
                for column in star.args.get("except_") or ()
                for named in self._left_out(column, of_source, position)
            ]
            return [named for named in of_source if named not in left_out]
        if isinstance(pattern, exp.Array) and all(map(_is_text, pattern.expressions)):
            listed = list(dict.fromkeys(literal.name.lower() for literal in pattern.expressions))
            _check_known(listed, self._every, position)
            return sorted(
                (named for named in self._every if named[1] in listed),
                key=lambda named: listed.index(named[1]),
            )
        if _is_text(pattern):
            matching = _matching(pattern.name, self._every)
            return [named for named in self._every if named[1] in matching]
        raise clause_not_offered("COLUMNS(...)", position)


def _wrapped(item: exp.Expr) -> exp.Tuple:
    """A copy inside of another node, so that all of it can be replaced."""
    return exp.Tuple(expressions=[item.copy()])


def _marks(wrapped: exp.Tuple) -> list[exp.Columns]:
    """The COLUMNS of an entry, without those of queries inside of it."""
    found = wrapped.find_all(exp.Columns)
    return [node for node in found if node.find_ancestor(exp.Select) is None]


def _every(frame: Frame) -> list[Named]:
    """The columns of `*`; those joined by USING come once."""
    found: dict[Named, None] = {}
    for source in frame.visible():
        for name in source.column_names():
            found[None if name in frame.merged else source, name] = None
    return list(found)


def _check_known(names: Iterable[str], every: Sequence[Named], position: SourceSpan | None) -> None:
    known = dict.fromkeys(name for _, name in every)
    for name in names:
        if name not in known:
            raise undefined_column(name, known, position)


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _matching(pattern: str, every: Sequence[Named]) -> frozenset[str]:
    """The names in which a regular expression is found."""
    names = pa.array([name for _, name in every], pa.string())
    try:
        found = pc.match_substring_regex(names, pattern, ignore_case=True)
    except pa.ArrowInvalid as error:
        raise InvalidValueError(
            f"'{pattern}' is no regular expression", hint=str(error), sqlstate="2201B"
        ) from error
    return frozenset(names.filter(found).to_pylist())
