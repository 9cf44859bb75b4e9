"""SQL for the engine: a closed tree as text, which is checked before anything runs it.

Two independent checks stand between a statement and the engine. `node_allowlist` checks the nodes
that are printed. Here the printed text is cut into tokens, by rules that are not
those of the printer, and each token must be one of a closed list: a word without quotes, a symbol,
a number, the number of a parameter; or a string or a name in quotes that the tree has. So nothing
that a tree keeps as text can become SQL, whatever the printer makes of it.
"""

import re
from collections.abc import Collection

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.cancellation import check_cancelled
from pykudu_sql.planner.parse.dialect import printed
from pykudu_sql.planner.parse.lexer import TOKEN_PATTERN, TokenKind, quote_name, quote_string
from pykudu_sql.planner.printing.node_allowlist import closed_texts
from pykudu_sql.planner.printing.word_allowlist import (
    PRINTED_NAMES,
    PRINTED_TEXTS,
    SPARK_NAMES,
    SPARK_WORDS,
    WORDS,
)
from pykudu_sql.storage.errors import NotSupportedError


@dataclass(frozen=True, slots=True)
class Lexis:
    """How an engine cuts SQL into tokens, and which words it is given.

    Attributes:
        quoted: its strings and names in quotes.
        words: that may stand without quotes, upper case.
        printed: strings and names in quotes that printing adds.
    """

    quoted: re.Pattern[str]
    words: frozenset[str]
    printed: frozenset[str]


DUCKDB = Lexis(
    re.compile(r"""('[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*")"""),
    WORDS,
    frozenset((*map(quote_string, PRINTED_TEXTS), *map(quote_name, PRINTED_NAMES))),
)
SPARK = Lexis(
    re.compile(r"""('[^'\\]*(?:\\.[^'\\]*)*'|`[^`]*(?:``[^`]*)*`)""", re.DOTALL),
    WORDS | SPARK_WORDS,
    frozenset(f"`{name}`" for name in SPARK_NAMES),
)
_PLAIN = re.compile(r"[\w \n()\[\]{},.:+\-*/%&|^~<>=@#$!]*", re.ASCII)
_COMMENT = re.compile(r"--|/\*|\$(?!\d)")
_WORD = re.compile(r"\w+", re.ASCII)
_NUMBER = re.compile(r"\d+(?:E\d*)?")
_ENDS_IN_WORD = re.compile(r"\w$", re.ASCII)
_NAMES_RELATION = re.compile(r"\b(?:AS|WITH|RECURSIVE) $")
_PARAMETER_AS_NAME = re.compile(r'"\$\d+"')
# Names of a WITH query's columns: `, "q"("a", "b") AS (`; else a name before `(` would be a call.
_COLUMNS_OF_WITH = re.compile(r'\((?:"(?:[^"]|"")*"(?:, )?)+\) AS (?:NOT )?(?:MATERIALIZED )?\(')


def to_sql(tree: exp.Expr) -> str:
    """The engine's SQL of a tree.

    Raises NotSupportedError: a part of it is not on the list of what engines get, or has no
    counterpart there.
    """
    texts = closed_texts(tree)
    check_cancelled()
    sql = printed(tree)
    check_cancelled()
    quoted = {
        *map(quote_string, texts.strings),
        *map(quote_string, texts.names),
        *map(quote_name, texts.names),
        *map(_path_text, texts.paths),
    }
    if _PARAMETER_AS_NAME.search(sql):
        sql = _with_parameters(sql, quoted)
    check_printed(sql, quoted, DUCKDB)
    return sql


def _with_parameters(sql: str, quoted: Collection[str]) -> str:
    """SQL in which parameters stand that sqlglot read again, as names, while it printed a call."""
    pieces = DUCKDB.quoted.split(sql)
    for i in range(1, len(pieces), 2):
        if pieces[i] not in quoted and _PARAMETER_AS_NAME.fullmatch(pieces[i]):
            pieces[i] = pieces[i].strip('"')
    return "".join(pieces)


def check_spark(sql: str, tree: exp.Expr) -> None:
    """Refuse Spark's SQL of a tree in which not all is of a closed list.

    Raises NotSupportedError: see `to_sql`.
    """
    texts = closed_texts(tree)
    nodes = (
        *map(exp.Literal.string, texts.strings),
        *(exp.to_identifier(name, quoted=True) for name in texts.names),
    )
    check_printed(sql, {node.sql("spark") for node in nodes}, SPARK)


def _path_text(path: exp.JSONPath) -> str:
    """A JSON path as a string; it is one, and nothing behind it.

    Raises NotSupportedError: it would end too early.
    """
    text = printed(path)
    match = TOKEN_PATTERN.match(text)
    if match is None or match.lastindex != TokenKind.STRING or match.end() != len(text):
        raise _unsupported(text)
    return text


def check_printed(sql: str, quoted: Collection[str], lexis: Lexis) -> None:
    """Refuse SQL with a token that is of no closed list, and that its tree does not have.

    Args:
        sql: of an engine.
        quoted: the strings and names of the tree, in quotes.
        lexis: the engine's.

    Raises NotSupportedError: with that token.
    """
    pieces = lexis.quoted.split(sql)
    plain = " ".join(pieces[::2]).upper()
    if not _PLAIN.fullmatch(plain) or _COMMENT.search(plain):
        raise _unsupported(plain)
    for word in set(_WORD.findall(plain)) - lexis.words:
        if not _NUMBER.fullmatch(word):
            raise _unsupported(word)
    for i in range(1, len(pieces), 2):
        mark = pieces[i]
        is_allowed = mark in quoted or mark in lexis.printed
        if mark[0] == "'":
            is_allowed = is_allowed and not _ENDS_IN_WORD.search(pieces[i - 1])  # E'\\x41'
        elif pieces[i + 1].lstrip()[:1] == "(":
            is_allowed = is_allowed and _names_columns(pieces, i)
        if not is_allowed:
            raise _unsupported(mark)


def _names_columns(pieces: list[str], i: int) -> bool:
    """Whether the parenthesis behind a name holds names of columns, and is no call."""
    if _NAMES_RELATION.search(pieces[i - 1]):
        return True
    return _COLUMNS_OF_WITH.match("".join(pieces[i + 1 :]).replace("`", '"')) is not None


def _unsupported(mark: str) -> NotSupportedError:
    return NotSupportedError(
        f"a part of this statement is not offered: {mark:.60}",
        hint="docs/sql/queries.md says what there is",
    )
