"""ON CONFLICT and RETURNING of an INSERT, which stand behind its rows.

MySQL's ON DUPLICATE KEY UPDATE is ON CONFLICT DO UPDATE SET; `VALUES(c)` in it, and `new.c` behind
`AS new`, is what `excluded.c` is.

The rows before may be a million values or a query, which other readers take; so the tail is found
first, by its words outside parentheses, and read by itself. Its expressions are put to the parser
as an UPDATE and a SELECT of the same length, so that positions in errors stay true.
"""

import re
from collections import deque
from collections.abc import Iterator

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.parse.dialect import POSITIONAL, parse
from pykudu_sql.planner.parse.lexer import Token, TokenKind, tokenize
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import NotSupportedError, SourceSpan, SyntaxError

_TAIL = re.compile(r"\bON\s+(?:CONFLICT|DUPLICATE)\b|\bRETURNING\b", re.IGNORECASE)
_BEGINS_TAIL = frozenset({"CONFLICT", "DUPLICATE"})
EXCLUDED_NAME = "excluded"  # what the rows proposed are called
_PROPOSED = "_VALUE"
_UPDATE = "UPDATE t SET"
_SELECT = "SELECT"


@dataclass(frozen=True, slots=True)
class Conflict:
    """ON CONFLICT.

    Attributes:
        columns: that must be the key, if they are given.
        update: of DO UPDATE, with its SET and WHERE; None for DO NOTHING.
        span: where it stands.
    """

    columns: tuple[str, ...]
    update: exp.Update | None
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class InsertTail:
    """ON CONFLICT and RETURNING of an INSERT, where it has them."""

    conflict: Conflict | None = None
    returning: tuple[exp.Expr, ...] = ()


def find_tail(source: SourceText) -> int | None:
    """Where the tail begins behind rows; None when there is none.

    Raises SyntaxError: a string, a quoted name or a comment has no end.
    """
    if _TAIL.search(source.text, source.start) is None:
        return None
    before: deque[Token] = deque(maxlen=4)
    for token in _outside(tokenize(source.text, source.start)):
        if token.word == "RETURNING":
            return token.start
        if token.word in _BEGINS_TAIL and before and before[-1].word == "ON":
            is_named = token.word == "DUPLICATE" and [each.word for each in before][1:2] == ["AS"]
            return before[1].start if is_named and before[0].text == ")" else before[-1].start
        before.append(token)
    return None


def read_tail(source: SourceText, start: int) -> InsertTail:
    """Read the tail.

    Args:
        source: the rows, whose `?` are counted before those of the tail, and it.
        start: where the tail begins.

    Raises SyntaxError: it does not follow the grammar; NotSupportedError: a constraint is given by
    name.
    """
    tokens = TokenStream(source.text, start)
    conflict = None
    stop = _returning_offset(source.text, start)
    if tokens.at("AS") or tokens.at("ON", "DUPLICATE"):
        conflict = _duplicate(tokens, source.until(stop))
    elif tokens.at("ON"):
        conflict = _conflict(tokens, source.until(stop))
    if stop is None:
        if conflict is None or conflict.update is None:
            tokens.expect_end()
        return InsertTail(conflict)
    if conflict is None or conflict.update is None:
        tokens.expect("RETURNING")
    return InsertTail(conflict, _returning(source, stop))


def _outside(tokens: Iterator[Token]) -> Iterator[Token]:
    """The tokens that stand outside parentheses."""
    depth = 0
    for token in tokens:
        if token.kind is TokenKind.SYMBOL:
            depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            yield token


def _returning_offset(text: str, start: int) -> int | None:
    offsets = (t.start for t in _outside(tokenize(text, start)) if t.word == "RETURNING")
    return next(offsets, None)


def _conflict(tokens: TokenStream, source: SourceText) -> Conflict:
    place = tokens.current
    tokens.expect("ON", "CONFLICT")
    if tokens.at("ON", "CONSTRAINT"):
        raise NotSupportedError(
            "ON CONFLICT ON CONSTRAINT is not supported",
            hint="write ON CONFLICT (key columns), or nothing, for the primary key",
        )
    columns = tokens.names() if tokens.at_symbol("(") else ()
    span = SourceSpan(place.start, len("ON CONFLICT"))
    begin = tokens.current.start
    tokens.expect("DO")
    if tokens.accept("NOTHING"):
        return Conflict(columns, None, span)
    if not tokens.accept("UPDATE"):
        raise tokens.error("NOTHING or UPDATE")
    if not tokens.at("SET"):
        raise tokens.error("SET")
    return Conflict(columns, _update(source, begin, tokens.take().end, span), span)


def _duplicate(tokens: TokenStream, source: SourceText) -> Conflict:
    """`[AS new] ON DUPLICATE KEY UPDATE c = value, ...`."""
    new = tokens.name("an alias") if tokens.accept("AS") else None
    place = tokens.current
    tokens.expect("ON", "DUPLICATE", "KEY")
    if not tokens.at("UPDATE"):
        raise tokens.error("UPDATE")
    span = SourceSpan(place.start, len("ON DUPLICATE"))
    end = tokens.take().end
    for token in tokenize(source.text, end):
        if token.word == "VALUES":  # which the parser takes for rows
            source = source.overwritten(token.start, token.end, _PROPOSED)
    update = _update(source, place.start, end, span)
    for column in nodes_of(update, exp.Column):
        if new is not None and column.table.lower() == new and not column.args.get("db"):
            column.set("table", exp.to_identifier(EXCLUDED_NAME))
    for call in nodes_of(update, exp.Anonymous):
        if call.name == _PROPOSED and len(call.expressions) == 1:
            call.replace(exp.column(call.expressions[0].this, table=EXCLUDED_NAME))
    return Conflict((), update, span)


def _update(source: SourceText, begin: int, end: int, span: SourceSpan) -> exp.Update:
    """What stands behind a head that ends in SET or UPDATE, as an UPDATE."""
    tree = parse(source.overwritten(begin, end, _UPDATE).text, begin)
    if not isinstance(tree, exp.Update) or not tree.expressions:
        raise SyntaxError("DO UPDATE SET column = value [WHERE ...] is expected", span=span)
    _renumber(tree, source, begin)
    return tree


def _returning(source: SourceText, place: int) -> tuple[exp.Expr, ...]:
    end = place + len("RETURNING")
    tree = parse(source.overwritten(place, end, _SELECT).text, place)
    others = (value for name, value in tree.args.items() if name != "expressions")
    if not isinstance(tree, exp.Select) or not tree.expressions or any(others):
        raise SyntaxError(
            "RETURNING takes expressions, separated by commas", span=SourceSpan(place, end - place)
        )
    _renumber(tree, source, place)
    return tuple(tree.expressions)


def _renumber(tree: exp.Expr, source: SourceText, place: int) -> None:
    """Number the `?` of a part by their order in the whole statement."""
    if tree.find(exp.Placeholder) is None:
        return
    before = sum(
        token.kind is TokenKind.PARAMETER and token.text == "?"
        for token in tokenize(source.text[:place], source.start)
    )
    for node in nodes_of(tree, exp.Placeholder):
        if node.name.startswith(POSITIONAL):
            node.set("this", f"{POSITIONAL}{int(node.name[1:]) + before}")
