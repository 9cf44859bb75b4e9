"""Refusals of what would need decimals of more than 38 digits in one column."""

from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.planner.query.number_types import COLUMNS, digits_of_type, fit_together, is_decimal
from pykudu_sql.storage.errors import ProgrammingError

_NO_COMMON_TYPE = "42804"


def no_common_type(where: str, names: Sequence[str]) -> ProgrammingError:
    """The error for types that meet, of which no type of 38 digits has all values.

    Args:
        where: what they meet in, as it is written.
        names: of the types.
    """
    shown = " and ".join(dict.fromkeys(names))
    return ProgrammingError(
        f"{where} of {shown}: no type of 38 digits has all their values",
        hint="CAST one to fewer digits, as CAST(x AS DECIMAL(38,20)), or to DOUBLE",
        sqlstate=_NO_COMMON_TYPE,
    )


def using_conflict(name: str, types: Sequence[str | None]) -> None:
    """Refuse to make one column of columns that USING joins, where no type has their values.

    Raises:
        ProgrammingError: it is so.
    """
    numbers = [each for each in types if each is not None and digits_of_type(each) is not None]
    found = [digits for each in numbers if (digits := digits_of_type(each)) is not None]
    if any(map(is_decimal, numbers)) and not fit_together(found):
        raise no_common_type(f"USING ({name})", numbers)


def recursive_conflict(query: exp.Expr) -> None:
    """Refuse a recursive query whose rows would be rounded to the type of its first part.

    Args:
        query: with the types of its parts noted.

    Raises:
        ProgrammingError: it is so.
    """
    clause = query.find_ancestor(exp.With)
    if not isinstance(query, exp.SetOperation) or not isinstance(query.parent, exp.CTE):
        return
    if clause is None or not clause.args.get("recursive"):
        return
    name = query.parent.alias
    first, second = (side.meta.get(COLUMNS, ()) for side in (query.left, query.right))
    if not any(table.name.lower() == name.lower() for table in query.right.find_all(exp.Table)):
        return
    for (_, begun), (_, added) in zip(first, second, strict=False):
        start, step = digits_of_type(begun), digits_of_type(added)
        if start is not None and step is not None and step.scale > start.scale:
            raise ProgrammingError(
                f"a column of recursive query '{name}' begins as {begun} and goes on as {added}",
                hint=f"CAST what it begins with, as CAST(x AS {added})",
                sqlstate=_NO_COMMON_TYPE,
            )
