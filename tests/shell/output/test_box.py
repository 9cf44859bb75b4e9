"""Boxes drawn as they appear."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.shell.output.box import Preview, Screen, ValueStyle, draw, footer
from pykudu_sql.shell.output.display import escape, width
from pykudu_sql.shell.output.layout import SizeRequest, place
from pykudu_sql.shell.output.spans import Role, Span, text_of
from pykudu_sql.shell.output.vertical import draw_vertical
from pykudu_sql.shell.output.wrapping import wrap_line, wrap_name


def box(
    names: str,
    types: str,
    rows: Sequence[Sequence[Any]],
    *,
    tail: Sequence[Sequence[Any]] = (),
    total: int | None = None,
    max_width: int | None = None,
    screen_lines: int | None = 1,
) -> str:
    total = len(rows) if total is None else total
    preview = Preview(tuple(names.split()), tuple(types.split()), rows, tail, total)
    lines, columns = draw(preview, ValueStyle(), Screen(max_width, screen_lines))
    return "\n".join([*map(text_of, lines), footer(preview, columns)])


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


def test_a_number_or_a_time_is_never_cut_and_names_are_broken_before_columns_go() -> None:
    row = (1234567890123456789, "2026-02-03 11:22:33.456789", "x" * 60)
    assert box(
        "customer_key_id created_at note", "BIGINT TIMESTAMP STRING", [row], max_width=79
    ) == (
        "┌─────────────────────┬────────────────────────────┬──────────────────────────┐\n"
        "│     customer_key_id │ created_at                 │ note                     │\n"
        "│              BIGINT │ TIMESTAMP                  │ STRING                   │\n"
        "├─────────────────────┼────────────────────────────┼──────────────────────────┤\n"
        "│ 1234567890123456789 │ 2026-02-03 11:22:33.456789 │ xxxxxxxxxxxx…xxxxxxxxxxx │\n"
        "└─────────────────────┴────────────────────────────┴──────────────────────────┘\n"
        "1 row"
    )
    text = "2026-02-03 11:22:33.456789"
    drawn = box(
        "q75 note other", "STRING STRING STRING", [(text, "a b " * 20, "c d " * 20)], max_width=79
    )
    assert text in drawn
    narrow = box("customer_key_id n", "BIGINT INT", [(1, 2)], max_width=19)
    assert narrow.splitlines()[1:4] == [
        "│ customer_ │     │",
        "│    key_id │   n │",
        "│    BIGINT │ INT │",
    ]


def test_a_text_is_broken_at_blanks_while_the_box_fits_the_screen() -> None:
    rows = [(1, "when a commit returns: full once it survives")]
    shown = box("id v", "INT STRING", rows, max_width=35, screen_lines=10)
    assert shown.splitlines()[4:6] == [
        "│   1 │ when a commit returns:    │",
        "│     │ full once it survives     │",
    ]
    full = box("id v", "INT STRING", rows * 3, max_width=35, screen_lines=5)
    assert full.count("…") == 3 and len(full.splitlines()) == 9


def test_a_plan_is_shown_whole_and_keeps_its_indentation() -> None:
    rows = [("SCAN",), ("  pushed: a = 1 AND b = 2 AND c = 3",)]
    assert box("plan", "STRING", rows, max_width=26).splitlines()[4:7] == [
        "│ SCAN                   │",
        "│   pushed: a = 1 AND b  │",
        "│   = 2 AND c = 3        │",
    ]


def test_null_is_told_from_a_text_that_reads_the_same() -> None:
    preview = Preview(("a", "b"), ("STRING", "STRING"), [(None, "NULL")], (), 1)
    lines, _ = draw(preview, ValueStyle(), Screen())
    cells = [span.role for line in lines for span in line if span.text.strip() == "NULL"]
    assert cells == [Role.NULL, Role.PLAIN]


def test_thousands_are_separated_where_that_is_asked_for() -> None:
    row = (1234567, Decimal("-1234567.50"), 0.25, "1234567", None)
    preview = Preview(
        tuple("abcde"), ("INT", "DECIMAL(9,2)", "DOUBLE", "STRING", "INT"), [row], (), 1
    )
    lines = [text_of(line) for line in draw(preview, ValueStyle(separators=True), Screen())[0]]
    assert lines[4].strip("│ ").split(" │ ")[0] == "1,234,567"
    assert [cell.strip() for cell in lines[4].split("│")[1:-1]] == [
        "1,234,567", "-1,234,567.50", "0.25", "1234567", "NULL",
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [20, 30, 200])
def test_a_line_for_each_value_leaves_nothing_out(columns: int) -> None:
    text = "the quick brown fox jumps over the lazy dog " * 3
    preview = Preview(("id", "text"), ("INT", "STRING"), [(7, text), (8, None)], (), 2)
    lines = [text_of(line) for line in draw_vertical(preview, ValueStyle(), Screen(columns))]
    assert lines[0].startswith("─[ 1 ]") and lines[0].index("┬") == lines[1].index("│")
    values = " ".join(line.partition(" │ ")[2].strip() for line in lines if " │ " in line)
    assert values.split() == ["7", *text.split(), "8", "NULL"]


@given(
    st.lists(
        st.builds(SizeRequest, st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=12
    ),
    st.integers(10, 200),
)
def test_columns_shown_stand_at_both_ends_and_fit(needs: list[SizeRequest], room: int) -> None:
    needs = [SizeRequest(max(need.natural, need.minimum), need.minimum) for need in needs]
    placed = place(needs, room)
    hidden = [i for i in range(len(needs)) if i not in placed.visible]
    assert hidden == list(range(hidden[0], hidden[-1] + 1)) if hidden else True
    assert len(placed.gaps) == bool(hidden)
    if len(placed.visible) > 1:
        shown = zip(placed.widths, (needs[i] for i in placed.visible), strict=True)
        assert all(need.minimum <= w <= need.natural for w, need in shown)
        assert sum(placed.widths) + 3 * len(placed.visible) + 4 * bool(hidden) < room


@given(
    st.lists(
        st.builds(SizeRequest, st.integers(1, 60), st.integers(1, 60), st.booleans()),
        min_size=1,
        max_size=12,
    ),
    st.integers(10, 200),
)
def test_columns_of_one_value_go_before_those_that_tell_rows_apart(
    needs: list[SizeRequest], room: int
) -> None:
    needs = [SizeRequest(max(n.natural, n.minimum), n.minimum, n.is_constant) for n in needs]
    placed = place(needs, room)
    hidden = [i for i in range(len(needs)) if i not in placed.visible]
    if len(placed.visible) > 1:
        used = sum(placed.widths) + 3 * len(placed.visible) + 4 * len(placed.gaps)
        assert used < room
        varied = [i for i in range(len(needs)) if not needs[i].is_constant]
        if len(varied) >= 2 and set(varied) & set(hidden):
            assert all(needs[i].is_constant is False or i == 0 for i in placed.visible)


def test_a_column_of_one_value_is_left_out_first_and_names_in_cells_are_whole() -> None:
    rows = [(i, "one", 1.5, f"a_name_of_{i}_without_a_blank", f"text {i} " * 9) for i in (1, 2)]
    drawn = box("id x y name note", "INT STRING DOUBLE STRING STRING", rows, max_width=65)
    assert "│ … │ a_name_of_2_without_a_blank │ text 2" in drawn
    assert "│ id │ … │" in drawn.replace("  ", " ") and "5 columns (3 shown)" in drawn


@given(st.text(st.sampled_from("ab_ .東\u0301"), max_size=40), st.integers(2, 12))
def test_a_name_in_lines_is_the_name(name: str, columns: int) -> None:
    lines = wrap_name(name, columns)
    assert "".join(lines) == name
    assert max(map(width, lines)) <= columns


@given(st.lists(st.text(st.sampled_from("ab 東\n"), max_size=20), max_size=5), st.integers(8, 40))
def test_a_line_broken_at_blanks_fits_and_keeps_its_words(texts: list[str], columns: int) -> None:
    line = tuple(Span(text, Role.NEW) for text in texts)
    parts = wrap_line(line, columns)
    assert all(width(text_of(part).rstrip()) <= columns for part in parts)
    assert "".join(map(text_of, parts)).replace(" ", "") == (
        text_of(line) if parts == [line] else escape(text_of(line))
    ).replace(" ", "")


@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=12),
    st.integers(16, 200),
    st.sampled_from([None, 1, 5, 40]),
)
def test_every_line_is_equally_wide_and_fits_the_terminal(
    cells: list[str], columns: int, depth: int | None
) -> None:
    names = tuple(f"c{i}" for i in range(len(cells)))
    preview = Preview(names, ("STRING",) * len(cells), [cells], (), 1)
    lines, _ = draw(preview, ValueStyle(), Screen(columns, depth))
    widths = {width(text_of(line)) for line in lines}
    assert len(widths) == 1 and widths.pop() <= columns
