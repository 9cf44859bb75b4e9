"""Long lists of literals: `x IN (1, 2, ...)` with more than a thousand values, never parsed.

Parsers and engines take seconds for a hundred thousand literals, so such a list is cut from the
text before it is parsed: its values become a relation of their own, and the expression
`x IN (SELECT value FROM relation)`, a join. NULLs mean the same there. What is cut is as long as
what stands in its place, so positions in errors stay true.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.parse.lexer import TOKEN_PATTERN, TokenKind, check_token, unquote
from pykudu_sql.planner.tree_nodes import nodes_of

LEAST_VALUES = 1000
COLUMN = "value"
_META = "long_list"
_MARK = "\x01list "
_INTEGER, _TEXT, _NULL = r"[+-]?\d{1,18}", r"'[^']*+(?:''[^']*+)*+'", r"[nN][uU][lL][lL]"


def _list_pattern(item: str) -> re.Pattern[str]:
    either = f"(?:{item}|{_NULL})"
    return re.compile(rf"\(\s*+({either}(?:\s*+,\s*+{either})*+)\s*+\)")


_INTEGERS, _TEXTS = _list_pattern(_INTEGER), _list_pattern(_TEXT)
_TEXT_OR_NULL = re.compile(f"{_TEXT}|{_NULL}")
_NOT_A_LINE = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class LongList:
    """The values of one list, all integers or all text.

    `values`: without NULLs; `has_null`: whether NULL was among them.
    """

    values: tuple[int, ...] | tuple[str, ...]
    has_null: bool

    @property
    def is_text(self) -> bool:
        """Whether the values are text."""
        return isinstance(self.values[0], str) if self.values else False

    def relation(self) -> pa.Table:
        """The values as rows of the column `value`."""
        nulls: tuple[None, ...] = (None,) if self.has_null else ()
        data_type = pa.string() if self.is_text else pa.int64()
        return pa.table({COLUMN: pa.array((*self.values, *nulls), data_type)})


def extract_long_lists(text: str, start: int, most_tokens: int) -> tuple[str, Sequence[LongList]]:
    """A statement without its long lists, and these.

    `start`: where to begin; `most_tokens`: that are looked at; lists behind them stay. Returns Text
    of the same length and lines, and the lists in order.
    """
    if text.count(",", start) < LEAST_VALUES or _MARK in text:
        return text, ()
    lists: list[LongList] = []
    pieces: list[str] = []
    copied_to, offset, after_in, count = 0, start, False, 0
    while count < most_tokens and (match := TOKEN_PATTERN.match(text, offset)) is not None:
        offset = match.end()
        if match.lastindex == TokenKind.SPACE:
            continue
        check_token(match)
        count += 1
        extracted = _list_at(text, match.start()) if after_in and match.group() == "(" else None
        after_in = match.group().upper() == "IN"
        if extracted is not None:
            values, end = extracted
            mark = f"('{_MARK}{len(lists)}'"
            rest = _NOT_A_LINE.sub(" ", text[match.start() + len(mark) : end - 1])
            pieces += [text[copied_to : match.start()], mark, rest, ")"]
            copied_to = offset = end
            lists.append(values)
    return "".join((*pieces, text[copied_to:])), lists


def _list_at(text: str, offset: int) -> tuple[LongList, int] | None:
    """The list that begins at a parenthesis, if it is long and plain, and where it ends."""
    match = _INTEGERS.match(text, offset)
    if match is not None:
        items = [item.strip() for item in match.group(1).split(",")]
        numbers = tuple(int(item) for item in items if item[-1].isdigit())
        values = LongList(numbers, len(numbers) < len(items))
    else:
        match = _TEXTS.match(text, offset)
        items = _TEXT_OR_NULL.findall(match.group(1)) if match is not None else []
        texts = tuple(unquote(item) for item in items if item[0] == "'")
        values = LongList(texts, len(texts) < len(items))
    if match is None or len(items) <= LEAST_VALUES or not values.values:
        return None
    return values, match.end()


def restore_long_lists(tree: exp.Expr, lists: Sequence[LongList]) -> None:
    """Put queries of lists where their marks stand."""
    for node in nodes_of(tree, exp.In) if lists else ():
        marks = node.expressions
        if len(marks) == 1 and isinstance(marks[0], exp.Literal) and marks[0].this[:6] == _MARK:
            node.set("expressions", None)
            node.set("query", list_query(lists[int(marks[0].this[6:])]))


def list_query(values: LongList) -> exp.Subquery:
    """The query that stands for a list."""
    query = exp.Subquery(this=exp.select(exp.column(COLUMN)))
    query.meta[_META] = values
    return query


def long_list(node: exp.Expr | None) -> LongList | None:
    """The list that a subquery replaces, None for any other node."""
    return node.meta.get(_META) if isinstance(node, exp.Subquery) else None


def map_long_list(node: exp.Expr, convert: Callable[[str], str]) -> None:
    """Change the texts of the list that a subquery replaces; leave other nodes alone."""
    values = long_list(node)
    if values is not None and values.is_text:
        set_long_list(node, replace(values, values=tuple(convert(str(v)) for v in values.values)))


def set_long_list(node: exp.Expr, values: LongList) -> None:
    """Let a subquery stand for another list than it does."""
    node.meta[_META] = values
