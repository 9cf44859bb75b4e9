"""Random scalar expressions, aggregates and window functions over columns.

The portable ones mean the same to SQLite. None depends on the order in which rows come.
"""

from collections.abc import Mapping, Sequence
from random import Random

from tests.pykudu_sql.differential.tables import Column

# By family: patterns with the family of what they give. A pattern reads one column.
_PORTABLE: Mapping[str, tuple[tuple[str, str], ...]] = {
    "int": (
        ("{0} % 7", "int"),
        ("coalesce({0}, 3)", "int"),
        ("nullif({0}, 2)", "int"),
        ("CASE WHEN {0} > 2 THEN 1 WHEN {0} IS NULL THEN 3 ELSE 0 END", "int"),
        ("CASE {0} WHEN 1 THEN 'one' WHEN 2 THEN 'two' END", "str"),
        ("({0} IS NULL)", "bool"),
        ("({0} < 3)", "bool"),
        ("({0} IN (1, 2, NULL))", "bool"),
    ),
    "str": (
        ("length({0})", "int"),
        ("{0} || 'x'", "str"),
        ("substr({0}, 2)", "str"),
        ("substr({0}, 1, 2)", "str"),
        ("replace({0}, 'a', 'b')", "str"),
        ("instr({0}, 'b')", "int"),
        ("coalesce({0}, 'n')", "str"),
        ("nullif({0}, 'a')", "str"),
        ("CASE WHEN {0} LIKE 'a%' THEN 1 END", "int"),
    ),
}
_OTHERS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "int": (
        ("{0} + 1", "int"),
        ("{0} - {0}", "int"),
        ("{0} * 2", "int"),
        ("{0} / 2", "dbl"),
        ("{0} // 3", "int"),
        ("1 / {0}", "dbl"),
        ("-{0}", "int"),
        ("abs({0})", "int"),
        ("CAST({0} AS DOUBLE)", "dbl"),
        ("CAST({0} AS DECIMAL(20, 1))", "dec"),
        ("greatest({0}, 4)", "int"),
        ("sign({0})", "int"),
    ),
    "dec": (
        ("{0} + 1", "dec"),
        ("{0} * 2", "dec"),
        ("{0} / 4", "dbl"),
        ("round({0}, 1)", "dec"),
        ("CAST({0} AS INT)", "int"),
        ("floor({0})", "dec"),
    ),
    "dbl": (
        ("{0} * 2", "dbl"),
        ("coalesce({0}, 0.5)", "dbl"),
        ("floor({0})", "dbl"),
        ("({0} = {0})", "bool"),
    ),
    "str": (
        ("upper({0})", "str"),
        ("lower({0})", "str"),
        ("left({0}, 1)", "str"),
        ("reverse({0})", "str"),
        ("trim({0})", "str"),
        ("concat({0}, 'y', NULL)", "str"),
        ("{0} || NULL", "str"),
        ("starts_with({0}, 'a')", "bool"),
        ("{0} ILIKE 'A%'", "bool"),
    ),
    "day": (
        ("year({0})", "int"),
        ("{0} + INTERVAL 1 DAY", "time"),
        ("date_trunc('month', {0})", "time"),
        ("extract(dow FROM {0})", "int"),
        ("datediff('day', DATE '2024-01-01', {0})", "int"),
        ("CAST({0} AS STRING)", "str"),
    ),
    "time": (
        ("hour({0})", "int"),
        ("CAST({0} AS DATE)", "day"),
        ("date_trunc('hour', {0})", "time"),
        ("{0} - INTERVAL 1 MONTH", "time"),
    ),
    "bool": (("NOT {0}", "bool"), ("{0} AND NULL", "bool"), ("CAST({0} AS INT)", "int")),
    "bin": (("octet_length({0})", "int"), ("hex({0})", "str")),
}


def draw_expression(pick: Random, columns: Sequence[Column], portable: bool) -> tuple[str, str]:
    """An expression over one column and the family of its values."""
    column = pick.choice(columns)
    patterns = list(_PORTABLE.get(column.family, ()))
    if not portable:
        patterns += _OTHERS.get(column.family, ())
    if not patterns:
        return column.name, column.family
    pattern, family = pick.choice(patterns)
    return f"({pattern.format(column.name)})", family


def draw_aggregate(pick: Random, columns: Sequence[Column], portable: bool) -> str:
    """An aggregate whose value does not depend on the order of its rows."""
    column = pick.choice(columns)
    functions = ["count", "min", "max"]
    if column.type in ("TINYINT", "SMALLINT", "INT") or column.family == "dec":
        functions += ["sum"]
    if column.type == "INT":
        functions += ["avg"]
    if column.family == "bool":
        functions = ["count", "bool_and", "bool_or"]
    if column.family == "dbl" or (portable and column.type == "BIGINT"):
        functions = ["count", "min", "max"]
    name = pick.choice(functions)
    distinct = "DISTINCT " if name in ("count", "sum") and pick.random() < 0.3 else ""
    text = pick.choice(("count(*)", f"{name}({distinct}{column.name})"))
    if pick.random() < 0.15:
        text += f" FILTER (WHERE {pick.choice(columns).name} IS NOT NULL)"
    return text


def draw_window(pick: Random, columns: Sequence[Column]) -> str:
    """Two columns and a window function; which of two equal rows comes first does not matter."""
    by, order = pick.choice(columns).name, pick.choice(columns).name
    whole = (f"min({order})", f"max({order})", f"count({by})", "count(*)")
    ranked = ("rank()", "dense_rank()", f"first_value({order})", f"last_value({order})")
    neighbours = (f"lag({order})", f"lead({order}, 2)", "row_number()")
    function = pick.choice((*whole, *ranked, *neighbours))
    within = f"PARTITION BY {by}"
    ordering = f"ORDER BY {order} DESC NULLS LAST"
    if function in whole and pick.random() < 0.3:
        frame = within
    elif function not in neighbours and pick.random() < 0.3:
        frame = ordering
    else:
        frame = f"{within} {ordering}"
    return f"{by}, {order}, {function} OVER ({frame})"
