"""A condition on the rows of one table, given as text: the query that applies it.

For those who read a table in shares, each by itself: what the condition says of a row must not
depend on other rows, so it has no subquery, aggregate or window.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlglot import exp

from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.error_spans import errors_located
from pykudu_sql.planner.parse.lexer import TokenKind, quote_name, tokenize
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Query
from pykudu_sql.planner.query.list_relations import write_long_lists
from pykudu_sql.planner.query.query import finish
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.catalog.namespace import database_of, own_name
from pykudu_sql.storage.errors import NotSupportedError, SyntaxError

_PLAIN = frozenset({"kind", "expressions", "from_", "where"})


def plan_condition(
    condition: str, table: str, columns: Sequence[str], context: PlanContext
) -> Query:
    """The query for the columns of those rows that match.

    Args:
        condition: as a WHERE clause has it.
        table: its name.
        columns: names of those wanted, in order.

    Returns a query of one scan. Raises NotSupportedError: it is more than a condition, or looks
    beyond the row; ProgrammingError, DataError: it is wrong.
    """
    names = ", ".join(quote_name(name) for name in columns)
    full = context.catalog.full_name(table.lower())
    source = f"{quote_name(database_of(full))}.{quote_name(own_name(full))}"
    head = f"SELECT {names} FROM {source} WHERE (\n"
    text = head + condition
    with errors_located(condition, len(head)), _errors_at_the_end(len(text)):
        _check_extent(text, len(head))
        return _planned(condition, table, f"{text}\n)", context)


@contextmanager
def _errors_at_the_end(end: int) -> Iterator[None]:
    """Syntax errors at the parenthesis that closes the condition name its end instead.

    `end`: where the condition ends in the text of the query. Raises Error: as it was raised inside.
    """
    try:
        yield
    except SyntaxError as error:
        if error.span is not None and error.span.start > end:
            raise SyntaxError(
                "syntax error at the end of the condition", hint=error.hint, span=error.span
            ) from error
        raise


def _check_extent(text: str, start: int) -> None:
    """See that a condition is there, and does not end before its text does.

    `text`: of the query up to its end; `start`: where it begins there. Raises SyntaxError: it is
    empty, or has a closing parenthesis too many.
    """
    depth, is_empty = 0, True
    for token in tokenize(text, start):
        is_empty = is_empty and token.kind is TokenKind.END
        if token.kind is TokenKind.SYMBOL:
            depth += (token.text == "(") - (token.text == ")")
        if depth < 0:
            message = 'syntax error at or near ")"'
            raise SyntaxError(message, hint="no '(' opens it", span=token.span)
    if is_empty:
        raise SyntaxError("the condition is empty", hint="write one, such as a = 1")


def _planned(condition: str, table: str, text: str, context: PlanContext) -> Query:
    tree = parse(text)
    write_long_lists(tree)
    clauses = {name for name, value in tree.args.items() if value}
    beyond = tree.find(exp.Subquery, exp.SetOperation, exp.Window, exp.AggFunc)
    queries = sum(1 for _ in nodes_of(tree, exp.Query))
    if not isinstance(tree, exp.Select) or clauses - _PLAIN or beyond is not None or queries > 1:
        raise NotSupportedError(
            f"a condition looks at the columns of one row of '{table}' alone, not {condition!r:.80}"
        )
    query = finish(bind(tree, context), context)
    if query.parameters:
        raise NotSupportedError("a condition given as text takes no parameters")
    return query
