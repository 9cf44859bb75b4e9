"""A cursor over the tokens of a statement, for recursive descent."""

from collections import deque
from typing import Final

from pykudu_sql.planner.parse.lexer import Token, TokenKind, tokenize, unquote
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.vocabulary.catalog_name import check_catalog
from pykudu_sql.storage.errors import SourceSpan, SyntaxError

# Of T-SQL and SQLite.
BRACKETS: Final = 'names are quoted with double quotes: "name"'
# Behind IF where a name is expected: neither EXISTS nor NOT EXISTS, which were looked for.
_MISWRITTEN = frozenset({"NOT", "EXIST"})


class TokenStream:
    """Tokens and a position among them; they are read as far as needed.

    What lies behind, such as thousands of rows of VALUES, is never cut into tokens. A semicolon
    ends the statement; reading on raises SyntaxError if another statement follows, or if a string,
    a quoted name or a comment has no end. `start`: offset of the first token.
    """

    def __init__(self, text: str, start: int = 0) -> None:
        self.text = text
        self._source = tokenize(text, start)
        self._read: deque[Token] = deque()

    @property
    def rest(self) -> SourceText:
        """The statement's text from the next token on."""
        return SourceText(self.text, self.current.start)

    @property
    def current(self) -> Token:
        """The token that comes next."""
        return self._read[0] if self._read else self.ahead(0)

    def ahead(self, count: int) -> Token:
        """The token `count` positions behind the next one; END past the last."""
        read = self._read
        while len(read) <= count:
            if read and read[-1].kind is TokenKind.END:
                return read[-1]
            read.append(self._next())
        return read[count]

    def take(self) -> Token:
        """The next token, passed over."""
        token = self.current
        if token.kind is not TokenKind.END:
            self._read.popleft()
        return token

    def _next(self) -> Token:
        token = next(self._source)
        if token.text != ";" or token.kind is not TokenKind.SYMBOL:
            return token
        after = next(self._source)
        while after.text == ";":
            after = next(self._source)
        if after.kind is TokenKind.END:
            return after
        raise SyntaxError(
            "more than one statement was given",
            hint="execute them one by one; split_statements() cuts a script",
            span=after.span,
        )

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.current.kind is TokenKind.END

    def at(self, *words: str) -> bool:
        """Whether the next tokens are these words, in upper case."""
        # all() of a generator takes a tenth of a CREATE TABLE.
        for index, word in enumerate(words):  # noqa: SIM110
            if self.ahead(index).word != word:
                return False
        return True

    def at_symbol(self, symbol: str) -> bool:
        """Whether the next token is this symbol."""
        return self.current.kind is TokenKind.SYMBOL and self.current.text == symbol

    def accept(self, *words: str) -> bool:
        """Pass over these words if they come next."""
        if not self.at(*words):
            return False
        for _ in words:
            self.take()
        return True

    def accept_symbol(self, symbol: str) -> bool:
        """Pass over this symbol if it comes next."""
        if not self.at_symbol(symbol):
            return False
        self.take()
        return True

    def expect(self, *words: str) -> None:
        """Pass over these words. Raises SyntaxError: others come next."""
        for word in words:
            if not self.accept(word):
                raise self.error(word)

    def expect_symbol(self, symbol: str) -> None:
        """Pass over this symbol. Raises SyntaxError: another comes next."""
        if not self.accept_symbol(symbol):
            raise self.error(f"'{symbol}'")

    def expect_end(self) -> None:
        """Check that nothing is left. Raises SyntaxError: something is."""
        if not self.at_end():
            raise self.error()

    def name(self, what: str = "a name") -> str:
        """An identifier, folded to lower case. Raises SyntaxError: something else comes next."""
        if self.current.kind not in (TokenKind.WORD, TokenKind.QUOTED):
            raise self.error(what)
        if self.current.word == "IF" and self.ahead(1).word in _MISWRITTEN:
            raise self.error("IF EXISTS or IF NOT EXISTS", self.ahead(1))
        return self.take().name

    def table_name(self) -> str:
        """A table's name, perhaps with its database: `t`, `db.t`, `pykudu.db.t`.

        Raises UndefinedTableError: it begins with another catalog.
        """
        first = last = self.current.span
        parts = [self.name("a table name")]
        while self.accept_symbol("."):
            last = self.current.span
            parts.append(self.name("a table name"))
        if len(parts) > 2:
            check_catalog(parts, SourceSpan(first.start, last.start + last.length - first.start))
        return ".".join(parts[-2:])

    def names(self) -> tuple[str, ...]:
        """A parenthesised list of identifiers."""
        self.expect_symbol("(")
        names = [self.name("a column name")]
        while self.accept_symbol(","):
            names.append(self.name("a column name"))
        self.expect_symbol(")")
        return tuple(names)

    def whole_number(self) -> int:
        """A number without fraction or sign. Raises SyntaxError: something else comes next."""
        if self.current.kind is not TokenKind.NUMBER or not self.current.text.isdigit():
            raise self.error("a whole number")
        return int(self.take().text)

    def string(self) -> str:
        """A string literal's text. Raises SyntaxError: something else comes next."""
        if self.current.kind is not TokenKind.STRING:
            raise self.error("a string in single quotes")
        return unquote(self.take().text)

    def error(self, expected: str | None = None, token: Token | None = None) -> SyntaxError:
        """The error for the next token (or a given one) where something else is expected."""
        offender = token or self.current
        hint = None
        if offender.text == "[":
            hint = BRACKETS
        elif expected:
            suggestion = near(offender.text.upper(), expected.split(", "))
            hint = suggestion or f"{expected} is expected here"
        span = offender.span
        if offender.kind is TokenKind.END:
            return SyntaxError("syntax error at the end of the statement", hint=hint, span=span)
        return SyntaxError(f'syntax error at or near "{offender.text[:40]}"', hint=hint, span=span)
