"""VALUES read straight from the text into columns: no tree, one match for each value.

Literals, signed numbers, NULL, TRUE, FALSE, DEFAULT, `DATE '..'`, `TIMESTAMP '..'`, `x'..'` and
parameters are read by one regular expression that also takes the comma or parenthesis behind
them; a thousand rows of five columns take a few milliseconds. At the first value of another kind
the reader gives up, and the statement goes the general way through the parser.
"""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from enum import Enum
from math import inf

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.operands.value import InsertedValue, Parameter, ParameterKey
from pykudu_sql.planner.parse.lexer import MAX_NUMBER_CHARACTERS
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.types.cells import moment_of, to_cell
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.text_forms import DAY
from pykudu_sql.storage.common.types.types import Kind
from pykudu_sql.storage.errors import DataError, ProgrammingError, SourceSpan

# Possessive throughout: no shorter match of a part could be followed by what has to follow.
_GAP = r"\s*+"
_DIGITS = rf"\d{{1,{MAX_NUMBER_CHARACTERS}}}+"
_VALUE = re.compile(
    rf"""{_GAP}(?:
      ([+-]?{_DIGITS}(?![\w.]))
    | ('[^']*+(?:''[^']*+)*+')
    | (NULL\b|TRUE\b|FALSE\b|DEFAULT\b)
    | ([+-]?(?:{_DIGITS}(?:\.\d*+)?|\.\d++)(?:E[+-]?{_DIGITS})?(?!\w))
    | (\?)
    | :([^\W\d]\w*)
    | DATE{_GAP}('{DAY}')
    | TIMESTAMP{_GAP}('[^']*')
    | X'((?:[0-9A-F]{{2}})*+)'
    ){_GAP}[,)]""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_OPEN = re.compile(rf"{_GAP}\(", re.DOTALL)
_NEXT = re.compile(rf"{_GAP}(?:,{_GAP}(\()|;?{_GAP}\Z)", re.DOTALL)
_TAIL = re.compile(rf"{_GAP}(ON{_GAP}CONFLICT\b|RETURNING\b)", re.IGNORECASE | re.DOTALL)
_WORDS: dict[str, bool | None] = {"NULL": None, "TRUE": True, "FALSE": False}


class Marker(Enum):
    """DEFAULT in a row."""

    DEFAULT = "DEFAULT"


@dataclass(frozen=True, slots=True)
class Named:
    """A parameter that is not converted to its column's type yet."""

    key: ParameterKey


SpanOf = Callable[[int, int], SourceSpan | None]
Raw = int | float | str | bytes | bool | Decimal | dt.date | Marker | Named | None


def _number(text: str) -> int | float | Decimal:
    if "e" in text or "E" in text:
        return float(text)
    return Decimal(text)


_READERS: Sequence[Callable[[str], Raw]] = (
    int,
    lambda text: text[1:-1].replace("''", "'"),
    lambda text: _WORDS.get(text.upper(), Marker.DEFAULT),
    _number,
    lambda text: Marker.DEFAULT,
    Named,
    lambda text: dt.date.fromisoformat(text[1:-1]),
    lambda text: moment_of(text[1:-1]),
    bytes.fromhex,
)
_POSITIONAL_GROUP = 5


@dataclass(frozen=True, slots=True)
class ValueRows:
    """The values of a VALUES list, column by column, as read.

    Attributes:
        columns: for each column its values.
        offsets: where each row starts in the statement.
        span_of: where the value stands that a row, by its number, has at a position of the list.
        tail: where ON CONFLICT or RETURNING begins behind them; None at the statement's end.
    """

    columns: tuple[Sequence[Raw], ...]
    offsets: list[int]
    span_of: SpanOf
    tail: int | None = None


def read_values(source: SourceText) -> ValueRows | None:
    """Read the rows behind the word VALUES.

    `source`: the text behind VALUES.

    Returns:
        None where anything but plain values stands in the rows, or something else than ON
        CONFLICT or RETURNING behind them.

    Raises ProgrammingError: rows of different lengths.
    """
    text = source.text
    opening = _OPEN.match(text, source.start)
    match_value, readers = _VALUE.match, _READERS
    rows: list[list[Raw]] = []
    offsets: list[int] = []
    questions = 0
    while opening is not None:
        at = opening.end()
        offsets.append(at - 1)
        row: list[Raw] = []
        while text[at - 1] != ")":
            match = match_value(text, at)
            if match is None:
                return None
            group = match.lastindex or 0
            if group == _POSITIONAL_GROUP:
                row.append(Named(questions))
                questions += 1
            else:
                try:
                    row.append(readers[group - 1](match.group(group)))
                except (ValueError, OverflowError):
                    return None
            at = match.end()
        rows.append(row)
        if len(row) != len(rows[0]):
            raise _ragged(offsets[-1], len(row), len(rows[0]))
        opening = _NEXT.match(text, at)
        if opening is None:
            tail = _TAIL.match(text, at)
            if tail is None:
                return None
            return ValueRows(_columns(rows), offsets, _spans(text, offsets), tail.start(1))
        if opening.group(1) is None:
            return ValueRows(_columns(rows), offsets, _spans(text, offsets))
    return None


def _spans(text: str, offsets: Sequence[int]) -> SpanOf:
    """Where values stand, read again from the text: only errors ask."""

    def span_of(row: int, position: int) -> SourceSpan | None:
        at = offsets[row] + 1
        for _ in range(position):
            match = _VALUE.match(text, at)
            at = at if match is None else match.end()
        value = _VALUE.match(text, at)
        if value is None:
            return None
        start, end = value.span(value.lastindex or 0)
        return SourceSpan(start, end - start)

    return span_of


def _columns(rows: Sequence[Sequence[Raw]]) -> tuple[Sequence[Raw], ...]:
    return tuple(zip(*rows, strict=True))


def column_values(
    raw: Sequence[Raw], column: ColumnSchema, span_of: Callable[[int], SourceSpan | None]
) -> tuple[InsertedValue, ...]:
    """One column's values as cells and parameters; DEFAULT may be a function.

    Args:
        raw: as read.
        column: the column that receives them.
        span_of: where its value in a row stands, for errors.

    Raises DataError: a value does not fit; the message names column, value and row.
    """
    if _are_cells(raw, column):
        return tuple(raw)  # type: ignore[arg-type]
    if column.type.kind is Kind.DOUBLE and set(map(type, raw)) == {Decimal}:
        numbers = tuple(map(float, raw))  # type: ignore[arg-type]
        if inf not in numbers and -inf not in numbers:
            return numbers
    values: list[InsertedValue] = []
    for value in raw:
        if type(value) is Named:
            values.append(Parameter(value.key, column.type, column.name))
        elif value is Marker.DEFAULT:
            values.append(column.default_function or column.write_default)
        else:
            try:
                values.append(to_cell(value, column.type))
            except DataError as error:
                row = len(values)
                raise _unfit(error, column, row, len(raw), span_of(row)) from error
    return tuple(values)


def _are_cells(raw: Sequence[Raw], column: ColumnSchema) -> bool:
    """Whether all values are cells of the column as they stand: the usual case, checked at once."""
    kinds = set(map(type, raw))
    if kinds == {int} and column.type.is_integer:
        low, high = column.type.integer_range or (0, 0)
        return low <= min(raw) and max(raw) <= high  # type: ignore[type-var,operator]
    return kinds == {str} and column.type.kind is Kind.STRING and "".join(raw).isascii()  # type: ignore[arg-type]


def _unfit(
    error: DataError, column: ColumnSchema, row: int, rows: int, span: SourceSpan | None
) -> DataError:
    which = f" in row {row + 1}" if rows > 1 else ""
    return type(error)(
        f"column '{column.name}'{which}: {error.message}",
        hint=error.hint,
        span=span,
        sqlstate=error.sqlstate,
    )


def _ragged(start: int, width: int, expected: int) -> ProgrammingError:
    return ProgrammingError(
        f"this row has {noun_count(width, 'value')} where the first has {expected}",
        span=SourceSpan(start),
        sqlstate="42601",
    )
