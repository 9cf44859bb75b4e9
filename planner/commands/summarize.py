"""SUMMARIZE: DuckDB's statistics of each column of a table, a view or a query.

An ordinary query, as SHOW COLUMN STATS is: one scan, one row of aggregates, turned on its side.
Distinct values and quartiles are estimates (HyperLogLog, t-digest). What a column's type has no
answer for, such as the mean of a text, is NULL.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pykudu_sql.planner.parse.error_spans import spans_dropped
from pykudu_sql.planner.parse.lexer import TokenKind, quote_string
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.query_plans import Query
from pykudu_sql.planner.query.query import plan_rows
from pykudu_sql.planner.query.result_types import result_type_names

_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM"})
_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT", "HUGEINT")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
_NUMBERS = frozenset({*_WHOLE, *_UNSIGNED, "FLOAT", "DOUBLE", "DECIMAL"})
_TIMES = frozenset({"DATE", "TIMESTAMP"})
_FACTS = (
    "min", "max", "approx_unique", "avg", "std", "q25", "q50", "q75", "count", "null_percentage",
)  # fmt: skip


def plan_summary(tokens: TokenStream, context: PlanContext) -> Query:
    """`SUMMARIZE t`, also of a view and AS OF a moment, or `SUMMARIZE SELECT ..`.

    Raises NotSupportedError: the query has parameters; SyntaxError, ProgrammingError: what it is
    about is wrong; the place is shown.
    """
    source = tokens.rest
    head = tokens.take()
    first = tokens.current
    end = first.start
    while not tokens.at_end():
        end = tokens.take().end
    if first.word in _QUERY_WORDS or first.text == "(":
        query = plan_rows(replace(source.until(end), start=first.start), context)
        summarized = source.text[first.start : end]
    elif first.kind in (TokenKind.WORD, TokenKind.QUOTED):
        # `FROM t` is a query; written over the head, it keeps the positions of errors.
        query = plan_rows(source.until(end).overwritten(head.start, head.end, "FROM"), context)
        summarized = f"FROM {source.text[first.start : end]}"
    else:
        raise tokens.error("a table or a query", first)
    types = result_type_names(query, context)
    with spans_dropped():
        return plan_rows(SourceText(_summary_sql(summarized, query.names, types)), context)


def _summary_sql(summarized: str, names: Sequence[str], types: Sequence[str]) -> str:
    columns = [f"c{index}" for index in range(len(names))]
    facts = [
        fact
        for column, type_name in zip(columns, types, strict=True)
        for fact in _facts(column, type_name)
    ]
    aggregates = ", ".join(f"{fact} AS f{index}" for index, fact in enumerate(facts))
    lists = [
        ("column_name", list(map(quote_string, names))),
        ("column_type", list(map(quote_string, types))),
        *(
            (fact, [f"f{index}" for index in range(start, len(facts), len(_FACTS))])
            for start, fact in enumerate(_FACTS)
        ),
    ]
    select_list = ", ".join(f'unnest([{", ".join(items)}]) AS "{name}"' for name, items in lists)
    # A comment at its end must not reach beyond it.
    rows = f"(\n{summarized}\n) AS summarized({', '.join(columns)})"
    return f"SELECT {select_list} FROM (SELECT {aggregates} FROM {rows}) AS facts"


def _facts(column: str, type_name: str) -> Iterator[str]:
    """An aggregate for each of `_FACTS`."""
    kind = type_name.partition("(")[0]
    is_number = kind in _NUMBERS
    yield f"CAST(min({column}) AS STRING)"
    yield f"CAST(max({column}) AS STRING)"
    yield f"least(approx_count_distinct({column}), count({column}))"
    for function in ("avg", "stddev"):
        yield _text(f"{function}({column})" if is_number else "NULL")
    for share in (0.25, 0.5, 0.75):
        has_quantiles = is_number or kind in _TIMES
        yield _text(f"approx_quantile({column}, {share})" if has_quantiles else "NULL")
    yield "count(*)"
    missing = f"100 * (count(*) - count({column}))"
    yield f"CAST({missing} / nullif(count(*), 0) AS DECIMAL(9, 2))"


def _text(value: str) -> str:
    return f"CAST({value} AS STRING)"
