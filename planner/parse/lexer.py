"""The lexer of our own grammar: statement heads, DDL, VALUES and statement boundaries.

One compiled regular expression cuts SQL into tokens that carry their offsets. sqlglot's tokenizer
does the same for queries at forty times the cost, so it is left out wherever the text is ours to
parse: splitting a script, reading a thousand rows of VALUES, finding out what kind a statement is.

Lexical rules, the same for both: `'...'` is a string with `''` inside for a quote, "..." and
`...` are identifiers that double their quote, `--` and `/* */` are comments that do not nest,
`x'0aff'` is a binary, `E'..'` a string with escapes and `$$..$$` one with quotes in it (which
`string_forms` writes over), identifiers without quotes fold to lower case.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from pykudu_sql.storage.errors import SourceSpan, StatementTooComplexError, SyntaxError


class TokenKind(IntEnum):
    """Kinds of tokens; the numbers are the groups of the pattern, END aside.

    TAG, between the dollars of `$tag$it's$tag$`, is a part of a string and no token.
    """

    SPACE = 1
    BYTES = 2
    WORD = 3
    NUMBER = 4
    STRING = 5
    TAG = 6
    QUOTED = 7
    PARAMETER = 8
    UNCLOSED = 9
    SYMBOL = 10
    END = 11


TOKEN_PATTERN = re.compile(
    r"""
      (\s+ | --[^\n]* | /\*.*?\*/)
    | ([xX]'[^']*' | [eE]'(?:[^'\\]|\\.|'')*')
    | ((?![eE]')[^\W\d][\w$]*)
    | ((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    | ('[^']*(?:''[^']*)*' | \$((?:[^\W\d]\w*)?)\$.*?\$\6\$)
    | ("[^"]*(?:""[^"]*)*" | `[^`]*(?:``[^`]*)*`)
    | (\? | (?<!:):[^\W\d]\w*)
    | ([eE]?'|["`] | /\* | \$(?:[^\W\d]\w*)?\$)
    | (<=|>=|<>|!=|\|\||::|:=|//|->>|->|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BINARY = re.compile(r"[xX]'(?:[0-9a-fA-F]{2})*'")
_IN_COMMENTS = re.compile(r"[^\n]")
# What may have the marks of a comment in it comes first. Plain strings are taken by the hundred,
# for texts of rows have many, and what has no end is read only once.
_WITH_COMMENTS = re.compile(
    r"""
      (?<![\w$])[eE]'(?:[^'\\]|\\.|'')*+'
    | (?: '[^']*' [^'"`/$eE-]*+ ){1,200}
    | "[^"]*"
    | `[^`]*`
    | (?<![\w$]) \$(?P<tag>(?:[^\W\d]\w*)?)\$ (?: .*? \$(?P=tag)\$ | .* )
    | (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?: /\* | ['"`] ) .*
    """,
    re.VERBOSE | re.DOTALL,
)
MAX_NUMBER_CHARACTERS = 4096  # converting a number takes the square of its digits
_KINDS = (TokenKind.SYMBOL, *TokenKind)  # by their number
_SPACE, _WORD, _NUMBER = TokenKind.SPACE, TokenKind.WORD, TokenKind.NUMBER
_UNCLOSED = TokenKind.UNCLOSED
_BOUNDED = frozenset({_NUMBER, _UNCLOSED})  # which `check_token` looks at
_UNCLOSED_NAMES = {
    "'": "string",
    "e'": "string",
    "E'": "string",
    '"': "quoted name",
    "`": "quoted name",
    "/*": "comment",
}


class Token(NamedTuple):
    """One token.

    Attributes:
        text: as written, quotes included; empty for END.
        start: offset of its first character in the statement.
    """

    kind: TokenKind
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset behind its last character."""
        return self.start + len(self.text)

    @property
    def span(self) -> SourceSpan:
        """Where it stands in the statement."""
        return SourceSpan(self.start, len(self.text))

    @property
    def word(self) -> str:
        """The upper-case spelling of a word without quotes, else the empty string."""
        return self.text.upper() if self.kind is _WORD else ""

    @property
    def name(self) -> str:
        """What the token names as an identifier, folded to lower case also when it is quoted."""
        return (unquote(self.text) if self.kind is TokenKind.QUOTED else self.text).lower()


def tokenize(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a statement from an offset on, without spaces, an END token last.

    Raises SyntaxError, StatementTooComplexError: see `check_token`.
    """
    for match in TOKEN_PATTERN.finditer(text, start):
        kind = match.lastindex or 0
        if kind == _SPACE:
            continue
        if kind in _BOUNDED:
            check_token(match)
        yield Token(_KINDS[kind], match.group(), match.start())
    yield Token(TokenKind.END, "", len(text))


def without_comments(text: str) -> str:
    """A text with blanks in place of its comments; all else stays at its offset and in its line."""
    if "--" not in text and "/*" not in text:
        return text
    return _WITH_COMMENTS.sub(_blank_comment, text)


def _blank_comment(match: re.Match[str]) -> str:
    return _IN_COMMENTS.sub(" ", match[0]) if match["comment"] else match[0]


def check_binaries(text: str, start: int) -> None:
    """Refuse the first binary from an offset on that is none.

    Raises SyntaxError, StatementTooComplexError: see `check_binary`, `check_token`.
    """
    for token in tokenize(text, start):
        if token.kind is TokenKind.BYTES and token.text[0] in "xX":
            check_binary(token.text, token.span)


def check_binary(text: str, span: SourceSpan | None) -> None:
    """Raise SyntaxError if a binary has other than two hexadecimal digits for each byte."""
    if not _BINARY.fullmatch(text):
        raise SyntaxError(
            f"{text:.60} is no binary",
            hint="it has two hexadecimal digits for each byte: x'0aff'",
            span=span,
        )


def check_token(match: re.Match[str]) -> None:
    """Refuse a match of `TOKEN_PATTERN` behind which nobody should read on.

    What has no end is looked for to the end of the text, at each place where it seems to begin.
    Raises SyntaxError: a string, a quoted name or a comment has no end; StatementTooComplexError: a
    number is too long.
    """
    if match.lastindex == _UNCLOSED:
        mark = match.group()
        is_escaped = mark == "'" and "\\'" in match.string[: match.end()]
        raise SyntaxError(
            f"this {_UNCLOSED_NAMES.get(mark, 'string')} has no end",
            hint="a quote in a string is written twice, 'it''s', or in E'it\\'s'"
            if is_escaped
            else f"it ends with {mark:.40}"
            if mark[0] == "$"
            else None,
            span=SourceSpan(match.start(), len(mark)),
        )
    length = match.end() - match.start()
    if match.lastindex == _NUMBER and length > MAX_NUMBER_CHARACTERS:
        raise StatementTooComplexError(
            f"a number of {length} characters is too long",
            hint=f"a number has at most {MAX_NUMBER_CHARACTERS}; write more digits as a text",
            span=SourceSpan(match.start(), length),
        )


def unquote(text: str) -> str:
    """The contents of a quoted string or name, doubled quotes made single."""
    quote = text[0]
    return text[1:-1].replace(quote + quote, quote)


def quote_string(text: str) -> str:
    """Text as a string literal."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """A name in double quotes; one of a table in one piece with its database."""
    return '"' + name.replace('"', '""') + '"'
