"""Boxes drawn as they appear."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.shell.output.box import Preview, draw, footer
from pykudu_sql.shell.output.display import width


def box(
    names: str,
    types: str,
    rows: Sequence[Sequence[Any]],
    *,
    tail: Sequence[Sequence[Any]] = (),
    total: int | None = None,
    max_width: int | None = None,
) -> str:
    total = len(rows) if total is None else total
    preview = Preview(tuple(names.split()), tuple(types.split()), rows, tail, total)
    lines, columns = draw(preview, "NULL", max_width)
    return "\n".join([*lines, footer(preview, columns)])


def test_types_stand_under_names_and_numbers_on_the_right() -> None:
    rows = [(1, "ann", 1.5), (20, "", None), (300, None, -2.25)]
    assert box("id name x", "BIGINT STRING DOUBLE", rows) == (
        "┌────────┬────────┬────────┐\n"
        "│     id │ name   │      x │\n"
        "│ BIGINT │ STRING │ DOUBLE │\n"
        "├────────┼────────┼────────┤\n"
        "│      1 │ ann    │    1.5 │\n"
        "│     20 │        │   NULL │\n"
        "│    300 │ NULL   │  -2.25 │\n"
        "└────────┴────────┴────────┘\n"
        "3 rows"
    )


def test_wide_characters_line_up_and_dangerous_ones_are_spelled_out() -> None:
    assert box("v", "STRING", [("東京",), ("\x1b[2J",), ("a\nb",)]) == (
        "┌─────────┐\n"
        "│ v       │\n"
        "│ STRING  │\n"
        "├─────────┤\n"
        "│ 東京    │\n"
        "│ \\x1b[2J │\n"
        "│ a\\nb    │\n"
        "└─────────┘\n"
        "3 rows"
    )


def test_a_lone_text_of_several_lines_is_drawn_as_lines() -> None:
    assert box("result", "STRING", [("CREATE TABLE t (\n  id INT\n)",)]) == (
        "┌──────────────────┐\n"
        "│ result           │\n"
        "│ STRING           │\n"
        "├──────────────────┤\n"
        "│ CREATE TABLE t ( │\n"
        "│   id INT         │\n"
        "│ )                │\n"
        "└──────────────────┘\n"
        "1 row"
    )


def test_an_empty_result_still_shows_its_columns() -> None:
    assert box("a", "INT", []) == ("┌─────┐\n│   a │\n│ INT │\n├─────┤\n└─────┘\n0 rows")


def test_rows_left_out_are_dots_and_the_footer_counts_them() -> None:
    assert box("n", "INT", [(1,), (2,)], tail=[(12345,)], total=12345) == (
        "┌───────┐\n"
        "│     n │\n"
        "│   INT │\n"
        "├───────┤\n"
        "│     1 │\n"
        "│     2 │\n"
        "│   ·   │\n"
        "│ 12345 │\n"
        "└───────┘\n"
        "12,345 rows (3 shown)"
    )


def test_a_long_column_is_cut_in_the_middle_to_fit() -> None:
    assert box("id v", "INT STRING", [(1, "a" * 50 + "z" * 50)], max_width=30) == (
        "┌─────┬──────────────────────┐\n"
        "│  id │ v                    │\n"
        "│ INT │ STRING               │\n"
        "├─────┼──────────────────────┤\n"
        "│   1 │ aaaaaaaaaa…zzzzzzzzz │\n"
        "└─────┴──────────────────────┘\n"
        "1 row"
    )


def test_columns_that_cannot_fit_are_left_out_in_the_middle() -> None:
    names = " ".join(f"column{i}" for i in range(9))
    assert box(names, "INTEGER " * 9, [tuple(range(9))], max_width=40) == (
        "┌─────────┬─────────┬───┬─────────┐\n"
        "│ column0 │ column1 │ … │ column8 │\n"
        "│ INTEGER │ INTEGER │ … │ INTEGER │\n"
        "├─────────┼─────────┼───┼─────────┤\n"
        "│       0 │       1 │ … │       8 │\n"
        "└─────────┴─────────┴───┴─────────┘\n"
        "1 row, 9 columns (3 shown)"
    )


@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=12),
    st.integers(16, 200),
)
def test_every_line_is_equally_wide_and_fits_the_terminal(cells: list[str], columns: int) -> None:
    names = tuple(f"c{i}" for i in range(len(cells)))
    preview = Preview(names, ("STRING",) * len(cells), [cells], (), 1)
    lines, _ = draw(preview, "NULL", columns)
    widths = {width(line) for line in lines}
    assert len(widths) == 1 and widths.pop() <= columns
