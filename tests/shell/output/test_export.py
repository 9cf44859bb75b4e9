"""Formats for programs: read back by a reader of the format, they are what went in."""

import csv as stdlib_csv
import io
import json
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.shell.output.columnar.exports import COLUMN_EXPORTS
from pykudu_sql.shell.output.export import COLUMN_FORMATS, ROW_EXPORTS

ROWS = [(1, "plain", None), (2, 'quote " comma, line\nend', Decimal("1.50")), (3, "", None)]


def export(
    name: str, names: list[str], *batches: Sequence[tuple[object, ...]], null: str = ""
) -> str:
    if name in ROW_EXPORTS:
        return "".join(ROW_EXPORTS[name](names, batches, null))
    columns = (list(zip(*batch, strict=True)) for batch in batches if batch)
    return "".join(COLUMN_EXPORTS[name](names, columns, null))


def test_csv_quotes_what_needs_it_and_tells_null_from_empty() -> None:
    assert export("csv", ["id", "v", "d"], ROWS[:1], ROWS[1:]) == (
        'id,v,d\n1,plain,\n2,"quote "" comma, line\nend",1.50\n3,"",\n'
    )


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_csv_reads_back_with_the_standard_reader(rows: list[tuple[str, str]]) -> None:
    text = export("csv", ["a", "b"], list(rows))
    read = list(stdlib_csv.reader(io.StringIO(text, newline="")))
    assert read == [["a", "b"], *map(list, rows)]


def test_tsv_escapes_tabs_and_line_ends() -> None:
    rows: list[tuple[object, ...]] = [("a\tb\n\\", None)]
    assert export("tsv", ["x", "y"], rows, null="\\N") == "x\ty\na\\tb\\n\\\\\t\\N\n"


def test_json_is_one_array_over_all_batches() -> None:
    text = export("json", ["id", "v", "d"], ROWS[:2], [], ROWS[2:])
    assert json.loads(text, parse_float=Decimal) == [
        {"id": id_, "v": v, "d": d} for id_, v, d in ROWS
    ]
    assert text.count("\n") == 3 and '"d": 1.50' in text


def test_json_of_no_rows_is_an_empty_array() -> None:
    assert export("json", ["a"]) == "[]\n"


def test_json_lines_is_an_object_a_line_with_distinct_names() -> None:
    assert export("jsonlines", ["a", "a"], [(1, 2)]) == '{"a": 1, "a_1": 2}\n'


def test_markdown_is_a_table() -> None:
    rows: list[tuple[object, ...]] = [("a|b", None), ("c\nd", 1)]
    assert export("markdown", ["x", "y"], rows, null="NULL") == (
        "| x | y |\n| --- | --- |\n| a\\|b | NULL |\n| c\\\\nd | 1 |\n"
    )


def test_line_gives_each_value_a_line() -> None:
    rows: list[tuple[object, ...]] = [(1, "x\x1b"), (2, None)]
    assert export("line", ["id", "name"], rows, null="NULL") == (
        "  id = 1\nname = x\\x1b\n\n  id = 2\nname = NULL\n"
    )


def test_the_formats_of_columns_are_those_that_have_a_writer() -> None:
    assert sorted(COLUMN_EXPORTS) == sorted(COLUMN_FORMATS)


# Their columns are as wide as the widest value of all rows.
ALIGNED = {"box", "psql"}


@pytest.mark.parametrize("name", sorted((COLUMN_EXPORTS.keys() | ROW_EXPORTS.keys()) - ALIGNED))
def test_a_format_that_is_not_aligned_takes_no_more_rows_than_it_writes(name: str) -> None:
    taken = []

    def batches() -> "object":
        for number in range(3):
            taken.append(number)
            yield [(number,)]

    exports = {**COLUMN_EXPORTS, **ROW_EXPORTS}
    chunks = exports[name](["n"], batches(), "NULL")  # type: ignore[arg-type]
    text = ""
    while "0" not in text:
        text += next(chunks)
    assert len(taken) < 3
