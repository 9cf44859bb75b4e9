"""Which rows the clauses of MERGE may name: where one side has no row, its columns mean nothing.

WHEN NOT MATCHED has a row of the source only, WHEN NOT MATCHED BY SOURCE one of the table only. A
name without a qualifier means the side that is there. What else names the other side, also from
within a subquery, is refused: the join would answer NULL.
"""

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.bound_query import BoundQuery, source_of
from pykudu_sql.planner.bind.sources import Source
from pykudu_sql.planner.dml.assignments import is_default
from pykudu_sql.planner.parse.dialect import node_position
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.storage.errors import UndefinedTableError


def is_by_source(when: exp.When) -> bool:
    """Whether a clause is WHEN NOT MATCHED BY SOURCE."""
    return not when.args.get("matched") and bool(when.args.get("source"))


def is_by_target(when: exp.When) -> bool:
    """Whether a clause is WHEN NOT MATCHED [BY TARGET]."""
    return not when.args.get("matched") and not when.args.get("source")


def expressions_of(when: exp.When) -> Iterator[exp.Expr]:
    """The condition of a clause, and the values it sets or inserts; without DEFAULT."""
    if when.args.get("condition") is not None:
        yield when.args["condition"]
    then = when.args["then"]
    values: list[exp.Expr] = []
    if isinstance(then, exp.Insert) and isinstance(then.expression, exp.Expr):
        values = [then.expression]
    elif isinstance(then, exp.Update):
        values = [node.expression for node in then.expressions if isinstance(node, exp.EQ)]
    for value in values:
        for each in value.expressions if isinstance(value, exp.Tuple) else [value]:
            if not is_default(each):
                yield each


def outermost_columns(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns of an expression that stand in none of its subqueries."""
    for part in node.walk(prune=lambda each: isinstance(each, exp.Query)):
        if isinstance(part, exp.Column):
            yield part


def check_side(
    whens: Sequence[exp.When], tables: exp.Select, absent: int, text: str, context: PlanContext
) -> None:
    """See that clauses of one kind do not name the side that has no row.

    Args:
        whens: the clauses, names without a qualifier already qualified.
        tables: SELECT without a list over the table and then the source; used up.
        absent: the place of that side in its FROM clause.
        text: the statement, for positions in errors.
        context: tables and time.

    Raises:
        UndefinedTableError: they do.
        UndefinedColumnError, ProgrammingError: a name is unknown or ambiguous.
    """
    tables.set("expressions", [node.copy() for when in whens for node in expressions_of(when)])
    if not tables.expressions:
        return
    bound = bind(tables, text, context)
    frame = next(frame for node, frame in bound.frames if node is tables)
    hidden = frame.steps[absent].sources
    there = frame.steps[1 - absent].sources[0]
    for column, source in _named(tables, bound):
        if source in hidden:
            raise _absent(column, source, there, absent, text)


def _named(tables: exp.Select, bound: BoundQuery) -> Iterator[tuple[exp.Column, Source]]:
    """The columns of a query with the sources they belong to."""
    yield from bound.qualified
    yield from bound.fields
    for column in tables.find_all(exp.Column):
        source = source_of(column)
        if source is not None:
            yield column, source


def _absent(
    column: exp.Column, source: Source, there: Source, absent: int, text: str
) -> UndefinedTableError:
    kind = "WHEN NOT MATCHED BY SOURCE" if absent else "WHEN NOT MATCHED"
    written = ".".join(part.name for part in column.parts)
    named = written if column.table else f"{source.alias}.{written}"
    why = "the source has no row" if absent else "no row matched"
    return UndefinedTableError(
        f"'{named}' has no value where {why}",
        hint=f"{kind} can use columns of {there.alias}",
        position=node_position(column, text),
    )
