"""JSON and JSON lines: generators over batches of columns, a piece of text a batch."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pykudu_sql.shell.output.columnar.literals import EMPTY, FALSE, text
from pykudu_sql.shell.output.columnar.texts import (
    Column,
    ColumnBatches,
    content,
    is_text,
    replace_some,
    texts_of,
    texts_one_by_one,
)
from pykudu_sql.shell.output.values import (
    UNSAFE_CHARACTERS,
    json_string,
    to_json,
    unique_names,
)

_QUOTE, _NO_NUMBER = text('"'), pa.nulls(1, pa.float64())[0]
# What is escaped in strings.
_SPECIAL = r'["\\\x00-\x1f' + UNSAFE_CHARACTERS + "]"
_NUMBER_TESTS = (pa.types.is_integer, pa.types.is_decimal128, pa.types.is_boolean)
_TIME_TESTS = (pa.types.is_date32, pa.types.is_time64, pa.types.is_timestamp)


def jsonlines(names: Sequence[str], batches: ColumnBatches, null: str) -> Iterator[str]:
    """One JSON object a line; repeated column names are numbered."""
    for batch in batches:
        yield _objects(names, batch, "\n")


def json_array(names: Sequence[str], batches: ColumnBatches, null: str) -> Iterator[str]:
    """One JSON array of objects, an object a line; repeated column names are numbered."""
    separator = "["
    for batch in batches:
        text = _objects(names, batch, ",\n ").removesuffix(",\n ")
        if text:
            yield separator + text
            separator = ",\n "
    yield "[]\n" if separator == "[" else "]\n"


def _objects(names: Sequence[str], batch: Sequence[Column], end: str) -> str:
    """The rows of a batch, each with an end behind it."""
    parts: list[pa.Array | pa.Scalar] = []
    before = "{"
    for name, column in zip(unique_names(names), batch, strict=True):
        parts += [text(before + json_string(name) + ": "), _json_texts(column)]
        before = ", "
    parts += [text("}" + end), EMPTY]
    objects = pc.binary_join_element_wise(*parts, null_handling="replace", null_replacement="null")
    return content(objects).decode()


def _json_texts(column: Column) -> pa.Array:
    """Each value as `to_json` gives it, NULL as NULL."""
    if not isinstance(column, pa.Array):
        return texts_one_by_one(column, to_json)
    if is_text(column):
        return _strings(texts_of(column))
    if pa.types.is_floating(column.type):
        doubles = pc.cast(column, pa.float64())
        return texts_of(pc.if_else(pc.is_finite(doubles), doubles, _NO_NUMBER))
    if any(test(column.type) for test in _NUMBER_TESTS):
        return texts_of(column)
    if any(test(column.type) for test in _TIME_TESTS):
        return _in_quotes(pc.replace_substring(texts_of(column), " ", "T"))
    return texts_one_by_one(column, to_json)


def _strings(texts: pa.Array) -> pa.Array:
    matches = pc.match_substring_regex(texts, _SPECIAL)
    special = pc.if_else(pc.is_null(matches), FALSE, matches)
    quoted = _in_quotes(texts)
    some = texts.filter(special)
    return (
        replace_some(quoted, special, list(map(json_string, some.to_pylist()))) if some else quoted
    )


def _in_quotes(texts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(_QUOTE, texts, _QUOTE, EMPTY)
