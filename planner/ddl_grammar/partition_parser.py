"""Recursive descent for PARTITION BY and for the ranges of ALTER TABLE.

    PARTITION BY HASH [(cols)] PARTITIONS n [, HASH ...] [, RANGE [(cols)] [(range, ...)] [splits]]
    splits := SPLIT ROWS ((v1, v2), ...)
    range := PARTITION lo <[=] VALUES [<[=] hi] | PARTITION VALUES <[=] hi
           | PARTITION VALUE = v | PARTITION VALUE = (v1, v2) | PARTITION UNBOUNDED
    each range may be followed by HASH ... of its own

Comparisons may be written from either side: `20 > VALUES` is `VALUES < 20`.
"""

from pykudu_sql.planner.ddl_grammar.syntax import (
    BoundClause,
    Expression,
    HashClause,
    PartitionClause,
    RangeClause,
    SplitRow,
)
from pykudu_sql.planner.parse.lexer import Token, TokenKind
from pykudu_sql.planner.parse.token_stream import TokenStream

_COMPARISONS = ("<", "<=", ">", ">=")
_STOP_WORDS = frozenset({"VALUES", "VALUE", "HASH", "PARTITION"})


def parse_partition_by(tokens: TokenStream) -> PartitionClause:
    """Parse a PARTITION BY clause. Raises SyntaxError: it does not follow the grammar."""
    start = tokens.current.start
    tokens.expect("PARTITION", "BY")
    hashes: list[HashClause] = []
    range_columns: tuple[str, ...] | None = None
    ranges: tuple[RangeClause, ...] | None = None
    splits: tuple[SplitRow, ...] = ()
    while True:
        if tokens.at("HASH"):
            hashes.append(_hash(tokens))
        elif tokens.at("RANGE") and range_columns is None:
            tokens.take()
            range_columns, ranges = _range_dimension(tokens)
            splits = _split_rows(tokens)
        else:
            raise tokens.error("HASH or RANGE")
        if not tokens.accept_symbol(",") and not tokens.at("HASH") and not tokens.at("RANGE"):
            break
    return PartitionClause(tuple(hashes), range_columns, ranges, start, splits)


def parse_range(tokens: TokenStream) -> RangeClause:
    """Parse `PARTITION` and its bounds. Raises SyntaxError: it does not follow the grammar."""
    start = tokens.current.start
    tokens.expect("PARTITION")
    lower, upper = _bounds(tokens)
    hashes = []
    while tokens.at("HASH"):
        hashes.append(_hash(tokens))
    return RangeClause(lower, upper, tuple(hashes), start)


def _hash(tokens: TokenStream) -> HashClause:
    start = tokens.current.start
    tokens.expect("HASH")
    columns = tokens.names() if tokens.at_symbol("(") else ()
    tokens.expect("PARTITIONS")
    return HashClause(columns, tokens.whole_number(), start)


def _range_dimension(tokens: TokenStream) -> tuple[tuple[str, ...], tuple[RangeClause, ...] | None]:
    columns: tuple[str, ...] = ()
    if tokens.at_symbol("(") and tokens.ahead(1).word != "PARTITION":
        columns = tokens.names() if tokens.ahead(1).text != ")" else ()
    if not tokens.accept_symbol("("):
        return columns, None
    ranges: list[RangeClause] = []
    while not tokens.at_symbol(")"):
        ranges.append(parse_range(tokens))
        if not tokens.accept_symbol(","):
            break
    tokens.expect_symbol(")")
    return columns, tuple(ranges)


def _split_rows(tokens: TokenStream) -> tuple[SplitRow, ...]:
    if not tokens.accept("SPLIT", "ROWS"):
        return ()
    tokens.expect_symbol("(")
    rows = []
    while True:
        start = tokens.current.start
        rows.append(SplitRow(_values(tokens), start))
        if not tokens.accept_symbol(","):
            break
    tokens.expect_symbol(")")
    return tuple(rows)


def _bounds(tokens: TokenStream) -> tuple[BoundClause | None, BoundClause | None]:
    if tokens.accept("UNBOUNDED"):
        return None, None
    if tokens.accept("VALUE"):
        tokens.expect_symbol("=")
        bound = BoundClause(_values(tokens), inclusive=True)
        return bound, bound
    lower = upper = None
    first = tokens.current
    if not tokens.at("VALUES"):
        values = _values(tokens)
        comparison = _comparison(tokens)
        bound = BoundClause(values, comparison in ("<=", ">="))
        lower, upper = (bound, None) if comparison.startswith("<") else (None, bound)
    if not tokens.accept("VALUES"):
        raise tokens.error("VALUES")
    if tokens.current.text in _COMPARISONS:
        comparison = _comparison(tokens)
        bound = BoundClause(_values(tokens), comparison in ("<=", ">="))
        if comparison.startswith("<") and upper is None:
            upper = bound
        elif comparison.startswith(">") and lower is None:
            lower = bound
        else:
            raise tokens.error("one lower and one upper bound", first)
    if lower is None and upper is None:
        raise tokens.error("a comparison")
    return lower, upper


def _comparison(tokens: TokenStream) -> str:
    if tokens.current.text not in _COMPARISONS:
        raise tokens.error("<, <=, > or >=")
    return tokens.take().text


def _values(tokens: TokenStream) -> tuple[Expression, ...]:
    """One constant expression, or a parenthesised list of them."""
    if not tokens.at_symbol("(") or not _is_list(tokens):
        return (_expression(tokens),)
    tokens.expect_symbol("(")
    values = [_expression(tokens)]
    while tokens.accept_symbol(","):
        values.append(_expression(tokens))
    tokens.expect_symbol(")")
    return tuple(values)


def _is_list(tokens: TokenStream) -> bool:
    """Whether the parentheses that come next are the whole value: `(1, 2)`, not `(1 + 2) * 3`."""
    depth = distance = 0
    while tokens.ahead(distance).kind is not TokenKind.END:
        text = tokens.ahead(distance).text
        depth += (text == "(") - (text == ")")
        distance += 1
        if depth == 0:
            break
    behind = tokens.ahead(distance)
    return behind.kind is TokenKind.END or _ends_expression(behind)


def _expression(tokens: TokenStream) -> Expression:
    """The text of a constant expression, up to a comparison, comma or closing parenthesis."""
    first = last = tokens.current
    depth = 0
    while not tokens.at_end() and not (depth == 0 and _ends_expression(tokens.current)):
        depth += (tokens.current.text == "(") - (tokens.current.text == ")")
        last = tokens.take()
    if tokens.current is first:
        raise tokens.error("a constant")
    return Expression(tokens.text[first.start : last.end], first.start)


def _ends_expression(token: Token) -> bool:
    if token.kind is TokenKind.SYMBOL:
        return token.text in (*_COMPARISONS, "=", ",", ")")
    return token.word in _STOP_WORDS
