"""Parts of statements that lack something, where the parser guesses what was meant.

sqlglot takes a row behind a row of VALUES without a comma for names of columns, a word behind a
value for its alias, texts side by side for one, ON and AS without what belongs behind them for
nothing, and a frame without its end for one up to the current row. Each of them would give an
answer to another statement than the one that was meant.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise

from sqlglot import Token, TokenType, exp

from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

_ON, _AS, _STRING, _AND = TokenType.ON, TokenType.ALIAS, TokenType.STRING, TokenType.AND
_BETWEEN, _WHERE, _SET = TokenType.BETWEEN, TokenType.WHERE, TokenType.SET
_ENDS = frozenset({None, TokenType.R_PAREN, TokenType.COMMA, TokenType.SEMICOLON})
_BEGINS_CLAUSE = _ENDS | {
    TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY, TokenType.ORDER_BY,
    TokenType.LIMIT, TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT, TokenType.JOIN,
    TokenType.INNER, TokenType.CROSS,
}  # fmt: skip
# What may stand behind each no more; any word may be a name behind AS.
_ENDS_BEHIND: Mapping[TokenType | None, Set[TokenType | None]] = {_ON: _BEGINS_CLAUSE, _AS: _ENDS}
_SIDES = frozenset({TokenType.LEFT, TokenType.RIGHT, TokenType.FULL})  # or functions, or names
_BEHIND_SIDE = frozenset({TokenType.JOIN, TokenType.OUTER})
_NO_CLAUSE_BEHIND = frozenset({TokenType.DOT, _AS})
_FRAMES = frozenset({"ROWS", "RANGE", "GROUPS"})
_EXPECTED: Mapping[TokenType | None, str] = {
    _ON: "a condition is expected behind it: ON a.id = b.id",
    _AS: "a name is expected behind it",
}
_COMMA = "a comma is missing before it"
_TEXTS = "a comma is missing before it, or || between the two; texts in two lines are one text"


def check_finished(tree: exp.Expr, tokens: Sequence[Token], text: str) -> None:
    """See that a statement has all its parts.

    Args:
        tree: of the statement.
        tokens: as they are written.
        text: that they were made of.

    Raises SyntaxError: one is missing.
    """
    kinds = {token.token_type for token in tokens}
    if _ON in kinds or _AS in kinds:
        _check_words(tokens)
    if _STRING in kinds:
        _check_texts(tokens, text)
    if _BETWEEN in kinds:
        _check_frames(tokens)
    if isinstance(tree, exp.Update):
        _check_order_of_update(tokens)
    if TokenType.VALUES in kinds:
        _check_rows(tree, tokens)
    if TokenType.OUTER in kinds:
        _check_joins(tree, tokens)


def _check_words(tokens: Sequence[Token]) -> None:
    """See that something stands behind each ON and AS."""
    kinds = [*(token.token_type for token in tokens), None, None]
    before: TokenType | None = None
    for place, token in enumerate(tokens):
        kind, after, second = kinds[place : place + 3]
        if kind in _EXPECTED and before not in _NO_CLAUSE_BEHIND:
            is_join = kind is _ON and after in _SIDES and second in _BEHIND_SIDE
            if is_join or after in _ENDS_BEHIND[kind]:
                raise _error(token, _EXPECTED[kind])
        before = kind


def _check_texts(tokens: Sequence[Token], text: str) -> None:
    """See that no text stands behind another one in its line."""
    for token, following in pairwise(tokens):
        if token.token_type is following.token_type is _STRING:
            between = text[token.end + 1 : following.start]
            if "\n" not in between:
                raise _error(following, _TEXTS)


def _check_frames(tokens: Sequence[Token]) -> None:
    """See that each frame that begins with BETWEEN has an end."""
    for place, (token, following) in enumerate(pairwise(tokens)):
        is_frame = following.token_type is _BETWEEN and token.text.upper() in _FRAMES
        if is_frame and not _has_end(tokens[place + 2 :]):
            raise SyntaxError(
                "the frame of a window lacks its end",
                hint=f"write {token.text.upper()} BETWEEN 1 PRECEDING AND CURRENT ROW",
                span=SourceSpan(token.start, following.end - token.start + 1),
            )


def _has_end(tokens: Sequence[Token]) -> bool:
    """Whether AND and something behind it are there. `tokens`: those behind BETWEEN."""
    outside = [*_outside(tokens)]
    places = [i for i, token in enumerate(outside) if token.token_type is _AND]
    return bool(places) and places[0] + 1 < len(outside)


def _outside(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens outside of brackets, up to a bracket that closes one opened before."""
    depth = 0
    for token in tokens:
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        if depth < 0:
            return
        if depth == 0:
            yield token


def _check_order_of_update(tokens: Sequence[Token]) -> None:
    kinds = [token.token_type for token in _outside(tokens)]
    if _WHERE in kinds and _SET in kinds and kinds.index(_WHERE) < kinds.index(_SET):
        token = next(token for token in tokens if token.token_type is _SET)
        raise _error(token, "SET stands before WHERE: UPDATE t SET a = 1 WHERE ..")


def _check_rows(tree: exp.Expr, tokens: Sequence[Token]) -> None:
    """See that rows of VALUES have commas between them, and between their values.

    A name may stand behind AS: Impala takes those of the first row for columns.
    """
    behind_as = {after.start for token, after in pairwise(tokens) if token.token_type is _AS}
    for values in nodes_of(tree, exp.Values):
        alias = values.args.get("alias") or exp.TableAlias()
        names = alias.args.get("columns") or []
        if names and (alias.args.get("this") is None or names[0].this.isdigit()):
            raise SyntaxError(
                "a row of VALUES stands behind another without a comma",
                hint="write VALUES (1, 2), (3, 4); names of columns stand behind AS v",
                span=node_span(names[0]),
            )
        for row in values.expressions:
            for entry in row.expressions if isinstance(row, exp.Tuple) else ():
                name = entry.args.get("alias") if isinstance(entry, exp.Alias) else None
                if name is not None and name.meta.get("start") not in behind_as:
                    raise SyntaxError(
                        f'syntax error at or near "{name.name}"', hint=_COMMA, span=node_span(name)
                    )


def _check_joins(tree: exp.Expr, tokens: Sequence[Token]) -> None:
    """See that each OUTER JOIN says of which side all rows stay."""
    for join in nodes_of(tree, exp.Join):
        if join.kind == "OUTER" and not join.side:
            place = next(token for token in tokens if token.token_type is TokenType.OUTER)
            raise _error(place, "write LEFT, RIGHT or FULL before it")


def _error(token: Token, hint: str) -> SyntaxError:
    return SyntaxError(
        f'syntax error at or near "{token.text[:40]}"',
        hint=hint,
        span=SourceSpan(token.start, token.end - token.start + 1),
    )
