"""Where `*` may stand: for columns in a SELECT list, rows in count(*), ALL in a few clauses."""

from sqlglot import exp

from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import SyntaxError

_STAR_PARENTS = (exp.Count, exp.Ordered, exp.Group, exp.Distinct)


def check_undressed(item: exp.Expr) -> None:
    """See that an entry of a SELECT list is no `*` with an alias or in parentheses.

    Raises SyntaxError: it is.
    """
    inner = item
    while isinstance(inner, exp.Alias | exp.Paren):
        inner = inner.this
    if inner is not item and inner.is_star:
        raise SyntaxError(
            "* takes neither an alias nor parentheses",
            hint="name the columns, or write * EXCLUDE (...), * REPLACE (...)",
            span=node_span(item),
        )


def check_inner_star(star: exp.Expr) -> None:
    """See that a `*` or `t.*` that is no entry of a SELECT list stands where it has a meaning.

    Raises SyntaxError: it is an operand or an argument, as in `* LIKE 'a%'`.
    """
    parent = star.parent
    if isinstance(parent, exp.Tuple):
        parent = parent.parent
    call = parent.parent if isinstance(parent, exp.Distinct) else parent
    if isinstance(call, exp.Count):
        if call is parent and star.arg_key == "this" and not call.expressions:
            return
        raise SyntaxError("count() takes * alone", hint="write count(*)", span=node_span(call))
    if not isinstance(parent, _STAR_PARENTS):
        raise _no_value(star)


def check_unmatched(star: exp.Star) -> None:
    """See that the `*` of a SELECT list is not compared by `ILIKE`, which the parser takes in.

    Raises SyntaxError: it is.
    """
    if star.args.get("ilike"):
        raise _no_value(star)


def _no_value(star: exp.Expr) -> SyntaxError:
    return SyntaxError(
        "* is no value: it means columns in a SELECT list and rows in count(*)",
        hint="COLUMNS('a.*') takes the columns whose names match, COLUMNS(*) all of them",
        span=node_span(star),
    )
