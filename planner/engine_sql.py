"""SQL for the engine: a closed tree as text, which is read again before anything runs it.

Two checks that know nothing of each other stand between a statement and the engine. `closed_tree`
looks at the nodes that are printed. Here the printed text is cut into tokens, by rules that are not
those of the printer, and each token must be one of a closed list: a word without quotes, a symbol,
a number, the number of a parameter; or a string or a name in quotes that the tree has. So nothing
that a tree keeps as text can become SQL, whatever the printer makes of it.
"""

import re

from sqlglot import exp

from pykudu_sql.planner.closed_tree import TreeTexts, closed_texts
from pykudu_sql.planner.dialect import printed
from pykudu_sql.planner.engine_words import PRINTED_NAMES, PRINTED_TEXTS, WORDS
from pykudu_sql.planner.lexer import TOKEN_PATTERN, TokenKind, unquote
from pykudu_sql.storage.errors import NotSupportedError

_QUOTED = re.compile(r"""('[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*")""")
_PLAIN = re.compile(r"[\w \n()\[\]{},.:+\-*/%&|^~<>=@#$!]*", re.ASCII)
_COMMENT = re.compile(r"--|/\*|\$(?!\d)")
_WORD = re.compile(r"\w+", re.ASCII)
_NUMBER = re.compile(r"\d+(?:E\d*)?")
_ENDS_IN_WORD = re.compile(r"\w$", re.ASCII)
_NAMES_RELATION = re.compile(r"\b(?:AS|WITH|RECURSIVE) $")
# Names of a WITH query's columns: `, "q"("a", "b") AS (`; else a name before `(` would be a call.
_COLUMNS_OF_WITH = re.compile(r'\((?:"(?:[^"]|"")*"(?:, )?)+\) AS (?:NOT )?(?:MATERIALIZED )?\(')


def to_sql(tree: exp.Expr) -> str:
    """The engine's SQL of a tree.

    Raises:
        NotSupportedError: a part of it is not on the list of what engines get, or has no
            counterpart there.
    """
    texts = closed_texts(tree)
    sql = printed(tree)
    strings = texts.strings | texts.names
    for path in texts.paths:
        strings.add(_path_text(path))
    check_printed(sql, TreeTexts(strings, texts.names))
    return sql


def _path_text(path: exp.JSONPath) -> str:
    """The text of a JSON path; it is one string, and nothing behind it.

    Raises:
        NotSupportedError: it would end too early.
    """
    text = printed(path)
    found = TOKEN_PATTERN.match(text)
    if found is None or found.lastindex != TokenKind.STRING or found.end() != len(text):
        raise _refused(text)
    return unquote(text)


def check_printed(sql: str, texts: TreeTexts) -> None:
    """Refuse SQL with a token that is of no closed list, and that its tree does not have.

    Args:
        sql: of the engine.
        texts: that may stand there in quotes.

    Raises:
        NotSupportedError: with that token.
    """
    pieces = _QUOTED.split(sql)
    plain = " ".join(pieces[::2]).upper()
    if not _PLAIN.fullmatch(plain) or _COMMENT.search(plain):
        raise _refused(plain)
    for word in set(_WORD.findall(plain)) - WORDS:
        if not _NUMBER.fullmatch(word):
            raise _refused(word)
    for i in range(1, len(pieces), 2):
        quoted = pieces[i]
        text = unquote(quoted)
        if quoted[0] == "'":
            known = text in texts.strings or text in PRINTED_TEXTS
            known = known and not _ENDS_IN_WORD.search(pieces[i - 1])  # E'\\x41'
        else:
            known = text in texts.names or text in PRINTED_NAMES
            if pieces[i + 1].lstrip()[:1] == "(":
                known = known and _names_columns(pieces, i)
        if not known:
            raise _refused(quoted)


def _names_columns(pieces: list[str], i: int) -> bool:
    """Whether the parenthesis behind a name holds names of columns, and is no call."""
    if _NAMES_RELATION.search(pieces[i - 1]):
        return True
    return _COLUMNS_OF_WITH.match("".join(pieces[i + 1 :])) is not None


def _refused(mark: str) -> NotSupportedError:
    return NotSupportedError(
        f"a part of this statement is not offered: {mark:.60}",
        hint="docs/sql.md says what there is",
    )
