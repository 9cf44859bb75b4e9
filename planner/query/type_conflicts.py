"""Refusals of what would need decimals of more than 38 digits in one column."""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.bind.relations import Scope
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.types.engine_types import digits_of_type, fit_together, is_decimal
from pykudu_sql.planner.types.expression_types import (
    ExpressionTypes,
    holds_decimals,
    shows_decimals,
)
from pykudu_sql.storage.errors import ProgrammingError

_NO_COMMON_TYPE = "42804"


def no_common_type(where: str, names: Sequence[str]) -> ProgrammingError:
    """The error for types that meet, of which no type of 38 digits has all values.

    `where`: what they meet in, as it is written; `names`: of the types.
    """
    shown = " and ".join(dict.fromkeys(names))
    return ProgrammingError(
        f"{where} of {shown}: no type of 38 digits has all their values",
        hint="CAST one to fewer digits, as CAST(x AS DECIMAL(38,20)), or to DOUBLE",
        sqlstate=_NO_COMMON_TYPE,
    )


def check_using(scope: Scope, types: ExpressionTypes) -> None:
    """Refuse to make one column of columns that USING joins, where no type has their values.

    Raises ProgrammingError: it is so.
    """
    for name in sorted(scope.merged):
        joined = tuple((each, name) for each in scope.relations_with(name))
        if shows_decimals(joined):
            _check_merged(name, [types.of_shown((each,)) for each in joined])


def _check_merged(name: str, types: Sequence[str | None]) -> None:
    numbers = [each for each in types if each is not None and digits_of_type(each) is not None]
    number_digits = [digits for each in numbers if (digits := digits_of_type(each)) is not None]
    if any(map(is_decimal, numbers)) and not fit_together(number_digits):
        raise no_common_type(f"USING ({name})", numbers)


def check_recursive(cte: exp.CTE, types: ExpressionTypes) -> None:
    """Refuse a recursive query whose rows would be rounded to the type of its first part.

    Raises ProgrammingError: it is so.
    """
    query, name = cte.this, cte.alias
    if not isinstance(query, exp.SetOperation) or not holds_decimals(query):
        return
    if not any(table.name.lower() == name.lower() for table in nodes_of(query.right, exp.Table)):
        return
    first, second = types.of_columns(query.left), types.of_columns(query.right)
    for (_, begun), (_, added) in zip(first, second, strict=False):
        start, step = digits_of_type(begun), digits_of_type(added)
        if start is not None and step is not None and step.scale > start.scale:
            raise ProgrammingError(
                f"a column of recursive query '{name}' begins as {begun} and goes on as {added}",
                hint=f"CAST what it begins with, as CAST(x AS {added})",
                sqlstate=_NO_COMMON_TYPE,
            )
