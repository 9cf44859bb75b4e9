"""Values for the parameters of statements, as people type them: `.run x 1 name=Ada`."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from pykudu_sql.shell.editing.tokens import Kind, tokenize

Value = str | int | Decimal | bool | None
Parameters = tuple[Value, ...] | dict[str, Value] | None

_INTEGER = re.compile(r"[+-]?\d{1,38}")
_DECIMAL = re.compile(r"[+-]?(?:\d{1,30}\.\d{0,30}|\.\d{1,30})")
_ASSIGNMENT = re.compile(r"([^\W\d]\w*)=(.*)", re.DOTALL)
_WORDS: Mapping[str, Value] = {"null": None, "true": True, "false": False}


def parse_value(text: str) -> Value:
    """The value a text stands for: a number, true, false or null; anything else is a text.

    Quotes around it, as in `'1'`, keep it a text.
    """
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return Decimal(text)
    return _WORDS.get(text.lower(), text)


def parse_assignment(text: str) -> tuple[str, str] | None:
    """Name and value of `name=value`; None if it is nothing of that form."""
    match = _ASSIGNMENT.fullmatch(text)
    return (match[1], match[2]) if match else None


def split_arguments(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Words without a name, in order, and those of the form `name=value`."""
    pairs = [parse_assignment(word) for word in words]
    positional = [word for word, pair in zip(words, pairs, strict=True) if pair is None]
    return positional, dict(pair for pair in pairs if pair is not None)


def bind_parameters(sql: str, values: Sequence[Value], named: Mapping[str, Value]) -> Parameters:
    """The parameters to execute a statement with: all values for `?`, or those of its `:name`.

    None if the statement has no placeholder.
    """
    marks = [token.text for token in tokenize(sql) if token.kind is Kind.PARAMETER]
    if not marks:
        return None
    if "?" in marks:
        return tuple(values)
    return {mark[1:]: named[mark[1:]] for mark in marks if mark[1:] in named}
