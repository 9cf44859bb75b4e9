"""Limits of length and depth, checked before a parser or an engine fails on a statement.

Parser and printer recurse with the nesting (see `deep_stack`), and engines take seconds, or crash,
on ten thousand chained operators. The text is looked at first, by the lexer of our own, since
making tokens for the parser takes ten times longer; what only the tree shows is checked on the
tree.
"""

from collections.abc import Mapping, Sequence

from sqlglot import Token, TokenType, exp

from pykudu_sql.planner.parse.lexer import TOKEN_PATTERN, TokenKind, check_token
from pykudu_sql.planner.parse.normalization.normalizer import SpanOf
from pykudu_sql.planner.parse.normalization.normalizers import NORMALIZERS
from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING
from pykudu_sql.planner.tree_nodes import ClassTest, children_of
from pykudu_sql.storage.errors import (
    NotSupportedError,
    SourceSpan,
    StatementTooComplexError,
    SyntaxError,
)

MAX_TOKENS = 100_000
MAX_NESTING = 250
MAX_CALLS = 60
MAX_RETRIED = 8
MAX_DEPTH = 600
MAX_JOINS = 250
MAX_WITH_QUERIES = 400

_BEFORE_ITEM = frozenset(
    {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.COMMA}
    | {TokenType.SELECT, TokenType.FROM, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.VALUES}
)
_PREFIXES = frozenset(
    {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.PARAMETER}
)
_COMMA, _R_PAREN, _JOIN, _SEMICOLON = (
    TokenType.COMMA, TokenType.R_PAREN, TokenType.JOIN, TokenType.SEMICOLON,
)  # fmt: skip
_GUARDED = OPENING | CLOSING | _PREFIXES | {_COMMA, _JOIN, _SEMICOLON}
_OPERATORS = frozenset(
    {"+", "-", "*", "/", "//", "%", "||", "::", "->", "->>", "=", "<", ">", "<=", ">="}
)
_UNARY = frozenset({"NOT", "-", "+", "~", "@"})
_DEEPER: Mapping[str, int] = {
    "(": 1,
    "[": 1,
    "{": 1,
    "CASE": 1,
    ")": -1,
    "]": -1,
    "}": -1,
    "END": -1,
}
# In brackets behind these words, and around a lambda, the parser reads a content several times, as
# one form and then as another: nested, each level multiplies.
_RETRIED_BEHIND = frozenset({"ROW", "ARRAY"})
_RETRIED_AROUND = frozenset({"->", "LAMBDA"})
# What makes values of nested types: planners and engines take more than linear time for those.
_CALLS = (exp.Func, exp.DataType)
_NO_CALLS = (exp.Binary, exp.Case, exp.If, exp.Cast, exp.Exists)
_IS_CALL = ClassTest(lambda kind: issubclass(kind, _CALLS) and not issubclass(kind, _NO_CALLS))
_SET_OPERATIONS = frozenset({"UNION", "INTERSECT", "EXCEPT"})
_ENDS_CHAIN = frozenset({",", "AND", "OR", "SELECT", "FROM", "WHERE", "WHEN", "THEN", "ELSE", "ON"})
_BEGINS_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM"})


def guard_text(text: str, start: int) -> None:
    """Refuse quickly what the parser would take long to refuse.

    Its tokens are a few more or less than the parser's, so the limits are a little wider. Raises
    StatementTooComplexError: it is too long or too deep; SyntaxError: a quote or comment has no
    end.
    """
    count = depth = unary = subscripts = 0
    counts = dict.fromkeys(("chain", "joins", "sets", "queries"), 0)
    before = last = ""
    for match in TOKEN_PATTERN.finditer(text, start):
        if match.lastindex == TokenKind.SPACE:
            continue
        check_token(match)
        count += 1
        mark = match.group()
        if match.lastindex == TokenKind.WORD:
            mark = mark.upper()
        elif match.lastindex != TokenKind.SYMBOL:
            mark = "value"
        depth = max(0, depth + _DEEPER.get(mark, 0))
        unary = unary + 1 if mark in _UNARY else 0
        subscripts += mark == "[" and last == "]"
        if max(depth, unary, subscripts) > MAX_NESTING:
            raise _too_deep(match.start())
        _count_parts(counts, before, last, mark)
        if count > MAX_TOKENS + MAX_TOKENS // 8:
            raise _too_long(count)
        before, last = last, mark


def _count_parts(counts: dict[str, int], before: str, last: str, mark: str) -> None:
    """Count what repeats without nesting, with room for what the tree shows to be apart.

    Raises StatementTooComplexError: there is too much of it.
    """
    if mark in _ENDS_CHAIN or mark in _DEEPER:
        counts["chain"] = 0
    elif mark in _OPERATORS:
        counts["chain"] += 1
        if counts["chain"] > 2 * MAX_DEPTH:
            raise _too_chained()
    elif mark == "JOIN":
        counts["joins"] += 1
        if counts["joins"] > MAX_JOINS:
            raise StatementTooComplexError(f"more than {MAX_JOINS} joins are not allowed")
    elif mark in _SET_OPERATIONS:
        counts["sets"] += 1
        if counts["sets"] > MAX_DEPTH:
            raise StatementTooComplexError(
                f"more than {MAX_DEPTH} set operations are not allowed",
                hint="write rows as VALUES, or gather them in a table",
            )
    if mark in _BEGINS_QUERY and last == "(" and before == "AS":
        counts["queries"] += 1
        guard_with_queries(counts["queries"])


def guard_with_queries(count: int) -> None:
    """Refuse a WITH clause of so many queries.

    Raises StatementTooComplexError: there are too many.
    """
    if count > MAX_WITH_QUERIES:
        raise StatementTooComplexError(
            f"more than {MAX_WITH_QUERIES} WITH queries are not allowed", hint="make views of some"
        )


def _too_deep(start: int) -> StatementTooComplexError:
    return StatementTooComplexError(
        f"statement is nested deeper than {MAX_NESTING} levels", span=SourceSpan(start)
    )


def guard_words(count: int) -> None:
    """Refuse a statement that its expansion makes too long.

    Raises StatementTooComplexError: it has too many words.
    """
    if count > MAX_TOKENS:
        raise _too_long(count)


def _too_long(count: int) -> StatementTooComplexError:
    return StatementTooComplexError(
        f"statement of {count} words is too long",
        hint=f"at most {MAX_TOKENS} are planned; put long lists into a table and join it",
    )


def _too_chained() -> StatementTooComplexError:
    return StatementTooComplexError(
        f"an expression has more than {MAX_DEPTH} chained operators",
        hint="cut it into several, or use IN, sum() or a join",
    )


def guard_tokens(tokens: Sequence[Token]) -> None:
    """Refuse what the parser cannot take.

    Raises StatementTooComplexError: too many tokens, or too deep; SyntaxError: there is more than
    one statement, or nothing before a comma.
    """
    if len(tokens) > MAX_TOKENS:
        raise _too_long(len(tokens))
    depth = deepest = prefixes = subscripts = joins = 0
    previous = None
    for token in tokens:
        kind = token.token_type
        if kind not in _GUARDED:
            previous, prefixes = kind, 0
            continue
        subscripts += kind is TokenType.L_BRACKET and previous is TokenType.R_BRACKET
        if _lacks_item(previous, kind):
            raise SyntaxError(
                f'syntax error at or near "{token.text}"',
                hint="something is missing before it",
                span=SourceSpan(token.start),
            )
        previous = kind
        if kind in OPENING:
            depth += 1
            deepest = max(deepest, depth)
        elif kind in CLOSING:
            depth -= depth > 0
        elif kind is _SEMICOLON:
            raise SyntaxError(
                "more than one statement was given",
                hint="execute them one by one; split_statements() cuts a script",
                span=SourceSpan(token.start),
            )
        prefixes = prefixes + 1 if kind in _PREFIXES else 0
        joins += kind is _JOIN
        if max(depth, prefixes, subscripts) > MAX_NESTING:
            raise _too_deep(token.start)
    if joins > MAX_JOINS:
        raise StatementTooComplexError(f"{joins} joins are more than the {MAX_JOINS} allowed")
    if deepest > MAX_RETRIED:
        _guard_retried(tokens)


def check_closed(tokens: Sequence[Token]) -> None:
    """Refuse a parenthesis that is never closed, which the parser lets pass behind some calls.

    Raises SyntaxError: there is one.
    """
    opened: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type is TokenType.R_PAREN:
            del opened[-1:]
    if opened:
        raise SyntaxError(
            'syntax error at or near "("',
            hint="this parenthesis is never closed",
            span=SourceSpan(opened[-1].start),
        )


def _guard_retried(tokens: Sequence[Token]) -> None:
    """Refuse what the parser would read again and again. Raises StatementTooComplexError."""
    retried: list[bool] = []  # of each open bracket, whether its content is read several times
    previous = ""
    for token in tokens:
        if token.token_type in OPENING:
            retried.append(previous in _RETRIED_BEHIND)
        elif token.token_type in CLOSING:
            del retried[-1:]
        previous = token.text.upper()
        if retried and previous in _RETRIED_AROUND:
            retried[-1] = True
        if sum(retried) > MAX_RETRIED:
            raise StatementTooComplexError(
                f"ROW, ARRAY and lambdas are nested deeper than {MAX_RETRIED} levels",
                span=SourceSpan(token.start),
            )


def _lacks_item(previous: TokenType | None, kind: TokenType) -> bool:
    """Whether a list has a comma with nothing on one side, which the parser passes over."""
    if kind is _COMMA:
        return previous in _BEFORE_ITEM
    return kind is _R_PAREN and previous is _COMMA


def guard_tree(tree: exp.Expr, span_of: SpanOf) -> None:
    """Refuse trees that engines choke on; chains of AND and OR are flat to them.

    Args:
        tree: as it was parsed; words in it are spelt as `NORMALIZERS` do.
        span_of: where a word stands in the statement.

    Raises StatementTooComplexError: it is too deep; NotSupportedError: the parser knows it only as
    text to pass through; Error: of `NORMALIZERS`.
    """
    stack = [(tree, 0, 0)]
    while stack:
        node, depth, calls = stack.pop()
        if depth > MAX_DEPTH:
            raise _too_chained()
        kind = type(node)
        calls += _IS_CALL[kind]
        if calls > MAX_CALLS:
            raise StatementTooComplexError(
                f"functions, lists or types are nested deeper than {MAX_CALLS} levels"
            )
        if isinstance(node, exp.Command):
            raise NotSupportedError(f"{str(node.this).upper()} is not supported here")
        normalize = NORMALIZERS.get(kind)
        if normalize is not None:
            normalize(node, span_of)
        chained = kind if isinstance(node, exp.Connector) else None
        for child in children_of(node):
            stack.append((child, depth if type(child) is chained else depth + 1, calls))
