"""A cursor over the tokens of a statement, for recursive descent."""

from pykudu_sql.planner.lexer import Token, TokenKind, source_position, tokenize, unquote
from pykudu_sql.storage.errors import Error, SyntaxError


class TokenStream:
    """Tokens with one place among them.

    Args:
        text: the whole statement.
        start: offset of the first token.

    Raises:
        SyntaxError: a string, a quoted name or a comment has no end.
    """

    def __init__(self, text: str, start: int = 0) -> None:
        self.text = text
        self._tokens = list(tokenize(text, start))
        self._at = 0
        while len(self._tokens) > 1 and self._tokens[-2].text == ";":
            del self._tokens[-2]

    @property
    def current(self) -> Token:
        """The token that comes next."""
        return self._tokens[self._at]

    def ahead(self, count: int) -> Token:
        """The token `count` places behind the next one; END past the last."""
        return self._tokens[min(self._at + count, len(self._tokens) - 1)]

    def take(self) -> Token:
        """The next token, passed over."""
        token = self.current
        if token.kind is not TokenKind.END:
            self._at += 1
        return token

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.current.kind is TokenKind.END

    def at(self, *words: str) -> bool:
        """Whether the next tokens are these words, in upper case."""
        return all(self.ahead(i).word == word for i, word in enumerate(words))

    def at_symbol(self, symbol: str) -> bool:
        """Whether the next token is this symbol."""
        return self.current.kind is TokenKind.SYMBOL and self.current.text == symbol

    def accept(self, *words: str) -> bool:
        """Pass over these words if they come next."""
        if not self.at(*words):
            return False
        self._at += len(words)
        return True

    def accept_symbol(self, symbol: str) -> bool:
        """Pass over this symbol if it comes next."""
        if not self.at_symbol(symbol):
            return False
        self._at += 1
        return True

    def expect(self, *words: str) -> None:
        """Pass over these words.

        Raises:
            SyntaxError: others come next.
        """
        for word in words:
            if not self.accept(word):
                raise self.error(word)

    def expect_symbol(self, symbol: str) -> None:
        """Pass over this symbol.

        Raises:
            SyntaxError: another comes next.
        """
        if not self.accept_symbol(symbol):
            raise self.error(f"'{symbol}'")

    def expect_end(self) -> None:
        """Check that nothing is left.

        Raises:
            SyntaxError: something is.
        """
        if not self.at_end():
            raise self.error()

    def name(self, what: str = "a name") -> str:
        """An identifier, folded to lower case.

        Raises:
            SyntaxError: something else comes next.
        """
        if self.current.kind not in (TokenKind.WORD, TokenKind.QUOTED):
            raise self.error(what)
        return self.take().name

    def table_name(self) -> str:
        """A table's name, perhaps with its database: `t`, `db.t`."""
        name = self.name("a table name")
        if self.accept_symbol("."):
            name = f"{name}.{self.name('a table name')}"
        return name

    def names(self) -> tuple[str, ...]:
        """A parenthesised list of identifiers."""
        self.expect_symbol("(")
        names = [self.name("a column name")]
        while self.accept_symbol(","):
            names.append(self.name("a column name"))
        self.expect_symbol(")")
        return tuple(names)

    def whole_number(self) -> int:
        """A number without fraction or sign.

        Raises:
            SyntaxError: something else comes next.
        """
        if self.current.kind is not TokenKind.NUMBER or not self.current.text.isdigit():
            raise self.error("a whole number")
        return int(self.take().text)

    def string(self) -> str:
        """A string literal's text.

        Raises:
            SyntaxError: something else comes next.
        """
        if self.current.kind is not TokenKind.STRING:
            raise self.error("a string in single quotes")
        return unquote(self.take().text)

    def error(self, expected: str | None = None, token: Token | None = None) -> SyntaxError:
        """The error for the next token (or a given one) where something else is expected."""
        found = token or self.current
        hint = f"{expected} is expected here" if expected else None
        position = source_position(self.text, found.start, len(found.text))
        if found.kind is TokenKind.END:
            return SyntaxError(
                "syntax error at the end of the statement", hint=hint, position=position
            )
        return SyntaxError(
            f'syntax error at or near "{found.text[:40]}"', hint=hint, position=position
        )

    def locate(self, error: Error, token: Token) -> Error:
        """An error of another room, pointed at a token unless it has a place already."""
        if error.position is None:
            error.position = source_position(self.text, token.start, len(token.text))
        return error
