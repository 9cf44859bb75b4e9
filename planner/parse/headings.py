"""Headings of results: the text of each entry of a SELECT or RETURNING list, as it is written.

The tree does not have it: the parser spells calls and operators anew. So the lists are cut on the
tokens. A comment on the word SELECT carries the number of its list to the tree, since the parser
keeps the comments of that word at the node.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from sqlglot import Token, TokenType, exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.parse.lexer import tokenize
from pykudu_sql.planner.parse.written_literals import written_literal
from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING
from pykudu_sql.planner.tree_nodes import nodes_of

_META = "pykudu_heading"
_RETURNING = "returning"
_SELECT, _FROM, _COMMA = TokenType.SELECT, TokenType.FROM, TokenType.COMMA
_DOT, _SEMICOLON, _RETURNING_WORD = TokenType.DOT, TokenType.SEMICOLON, TokenType.RETURNING
_TOP = TokenType.TOP
_BEGINS_LIST = frozenset({_SELECT, _RETURNING_WORD})
_NAMED = (exp.Alias, exp.Column, exp.Star)  # what needs no heading
_BEFORE_ENTRIES = frozenset(
    {TokenType.ALL, TokenType.DISTINCT, TokenType.STRAIGHT_JOIN, TokenType.HINT}
)
_ENDS_LIST = frozenset(
    {
        TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY,
        TokenType.WINDOW, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH,
        TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.INTO, TokenType.FOR,
        TokenType.USING,
    }
)  # fmt: skip
# What stands before a word that is a name here, or a part of an operator or of a star.
_NO_CLAUSE_BEHIND: Mapping[TokenType, frozenset[TokenType]] = {
    TokenType.DISTINCT: frozenset({TokenType.FROM}),
    TokenType.STAR: frozenset({TokenType.EXCEPT}),
    TokenType.DOT: _ENDS_LIST,
    TokenType.ALIAS: _ENDS_LIST,
}
_BLANK = re.compile(r"\s*")


@dataclass(slots=True)
class _Level:
    """What lies in one pair of brackets; its list, from the word before it to the clause behind.

    Attributes:
        entries: of the list, as indices of their first and last token; None outside of a list.
        first: place of the first token of the entry that is read; None before it.
        has_keys: whether DISTINCT ON or TOP was read, whose parentheses or number come next.
    """

    entries: list[tuple[int, int]] | None = None
    first: int | None = None
    has_keys: bool = False

    def begin(self, index: int, entries: list[tuple[int, int]]) -> None:
        """Read the list behind the word at a place."""
        self.end(index)
        self.entries, self.has_keys = entries, False

    def end_entry(self, end: int) -> None:
        """Note the entry that ends before a place."""
        if self.entries is not None and self.first is not None:
            self.entries.append((self.first, end - 1))
        self.first = None

    def end(self, end: int) -> None:
        """Note the last entry; what follows is no part of the list."""
        self.end_entry(end)
        self.entries = None


@dataclass(slots=True)
class _Lists:
    """The lists of a statement, by the mark of their SELECT."""

    tokens: Sequence[Token]
    by_mark: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    levels: list[_Level] = field(default_factory=lambda: [_Level()])

    def read(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """Cut the lists, once."""
        if self.by_mark:
            return self.by_mark
        behind = _SEMICOLON
        for i, token in enumerate(self.tokens):
            level, kind = self.levels[-1], token.token_type
            if kind in CLOSING and len(self.levels) > 1:
                self.levels.pop().end(i)
            elif kind is _SELECT and behind is not _DOT:
                level.begin(i, self.by_mark.setdefault(_mark(token), []))
            elif kind is _RETURNING_WORD and len(self.levels) == 1 and level.entries is None:
                level.begin(i, self.by_mark.setdefault(_RETURNING, []))
            elif level.entries is not None:
                self._inside(level, i, kind, behind)
            if kind in OPENING:
                self.levels.append(_Level())
            behind = kind
        for level in self.levels:
            level.end(len(self.tokens))
        return self.by_mark

    def _inside(self, level: _Level, i: int, kind: TokenType, behind: TokenType) -> None:
        """Read a token of a list."""
        if kind is _COMMA:
            level.end_entry(i)
        elif level.first is None:
            if kind is _FROM:
                level.end(i)
            elif level.has_keys:
                level.has_keys = False
            elif kind is _TOP or (kind is TokenType.ON and behind is TokenType.DISTINCT):
                level.has_keys = True
            elif level.entries or kind not in _BEFORE_ENTRIES:
                level.first = i
        elif kind in _ENDS_LIST and kind not in _NO_CLAUSE_BEHIND.get(behind, ()):
            level.end(i)


def marked(tokens: Sequence[Token]) -> list[Token]:
    """The tokens for the parser, each SELECT with a comment by which its node is known."""
    return [
        Token(
            token.token_type, token.text, token.line, token.col, token.start, token.end,
            [_mark(token)],
        )
        if token.token_type is _SELECT
        else token
        for token in tokens
    ]  # fmt: skip


def _mark(token: Token) -> str:
    return f"\0{token.start}"


def note_headings(tree: exp.Expr, tokens: Sequence[Token], text: str) -> None:
    """Note the headings of the entries of all SELECT and RETURNING lists of a statement.

    Args:
        tree: that the parser made of `marked` tokens.
        tokens: these.
        text: that they were made of, without comments.
    """
    if _BEGINS_LIST.isdisjoint([token.token_type for token in tokens]):
        return
    lists = _Lists(tokens)
    for node in nodes_of(tree, exp.Select, exp.Returning):
        marks = (_RETURNING,) if isinstance(node, exp.Returning) else node.pop_comments() or ()
        if all(isinstance(item, _NAMED) for item in node.expressions):
            continue
        by_mark = lists.read()
        entries = next((by_mark[mark] for mark in marks if mark in by_mark), ())
        if len(entries) != len(node.expressions):
            continue
        for item, (first, last) in zip(node.expressions, entries, strict=True):
            if not isinstance(item, _NAMED):
                item.meta[_META] = _written(tokens[first : last + 1], text)


def _written(tokens: Sequence[Token], text: str) -> str:
    """The text of some tokens; blanks between two are one space."""
    pieces: list[str] = []
    end = tokens[0].start
    for token in tokens:
        if token.end < end:
            continue  # stands for a part of the one before it
        gap = text[end : token.start]
        pieces.append(" " if gap and _BLANK.fullmatch(gap) else gap)
        literal = written_literal(text, token.start)
        if literal is None:
            pieces.append(_single_spaced(text[max(end, token.start) : token.end + 1]))
            end = token.end + 1
        else:
            pieces.append(literal.written)
            end = token.start + len(literal.plain)
    return "".join(pieces)


def _single_spaced(token: str) -> str:
    """A token as it is written; the words of which some consist, as PARTITION BY, with one space.

    What is in quotes stays as it is.
    """
    is_word = token[:1].isalpha() and token[-1:].isalpha()
    return " ".join(token.split()) if is_word else token


def heading(item: exp.Expr) -> str | None:
    """How an entry is written; None for one that was not read from a text."""
    written: str | None = item.meta_get(_META)
    return written


def name_entry(item: exp.Expr, name: str) -> None:
    """Give an entry another heading than its text."""
    item.meta[_META] = name


def name_expanded(item: exp.Expr, name: str, whole: exp.Expr) -> None:
    """Give an entry that COLUMNS stood in the heading of the whole, with a column in its place.

    `item`: the entry for one column; `whole`: the entry as it is written.
    """
    written = heading(whole)
    if written is None:
        return
    pieces: list[str] = []
    depth, copied_to = 0, 0
    for token, behind in pairwise(tokenize(written)):
        if depth:
            depth += (behind.text == "(") - (behind.text == ")")
            copied_to = behind.end
        elif token.word == "COLUMNS" and behind.text == "(":
            pieces += (written[copied_to : token.start], name)
            depth = 1
    name_entry(item, "".join((*pieces, written[copied_to:])))
