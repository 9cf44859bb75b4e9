"""Colours for SQL as it is typed."""

from collections.abc import Callable

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from pykudu_sql.shell.editing.script import is_command
from pykudu_sql.shell.editing.tokens import FUNCTIONS, KEYWORDS, TYPES, Kind, Token, tokenize

STYLE = Style.from_dict(
    {
        "sql.keyword": "bold ansiblue",
        "sql.type": "ansicyan",
        "sql.function": "ansimagenta",
        "sql.string": "ansigreen",
        "sql.number": "ansiyellow",
        "sql.comment": "italic ansibrightblack",
        "sql.parameter": "ansimagenta",
        "sql.command": "bold ansicyan",
        "sql.open": "underline",
        "prompt": "bold",
        "prompt.transaction": "bold ansired",
    }
)
_CLASSES = {
    Kind.COMMENT: "class:sql.comment",
    Kind.STRING: "class:sql.string",
    Kind.NUMBER: "class:sql.number",
    Kind.PARAMETER: "class:sql.parameter",
}


class SqlLexer(Lexer):
    """Gives each token of SQL its style; strings and comments may span lines."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """See prompt_toolkit."""
        lines = styled_lines(document.text)
        return lambda number: lines[number] if number < len(lines) else []


def styled_lines(text: str) -> list[StyleAndTextTuples]:
    """(style, text) pairs of every line of a text."""
    if is_command(text):
        return [[("class:sql.command", line)] for line in text.split("\n")]
    lines: list[StyleAndTextTuples] = [[]]
    for token in tokenize(text):
        style = _style(token)
        first, *others = token.text.split("\n")
        lines[-1].append((style, first))
        lines.extend([(style, part)] for part in others)
    return lines


def _style(token: Token) -> str:
    if token.word in TYPES:
        return "class:sql.type"
    if token.word in KEYWORDS:
        return "class:sql.keyword"
    if token.kind is Kind.WORD and token.text.lower() in FUNCTIONS:
        return "class:sql.function"
    style = _CLASSES.get(token.kind, "")
    return style if token.closed else f"{style} class:sql.open"
