"""The text of a statement, or of a query in it, that is parsed by itself."""

from dataclasses import replace

from pykudu_sql.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SourceText:
    """A part of a statement's text; offsets of tokens and nodes are those of the statement.

    Attributes:
        text: of the statement, up to where the part ends.
        start: where the part begins.
    """

    text: str
    start: int = 0

    def until(self, end: int | None) -> "SourceText":
        """The part that ends at an offset; the same where that is None."""
        return self if end is None else replace(self, text=self.text[:end])

    def overwritten(self, start: int, end: int, words: str = "") -> "SourceText":
        """The same with other words from an offset to another, which offsets of others outlive."""
        text = self.text
        return replace(self, text=text[:start] + words.ljust(end - start) + text[end:])
