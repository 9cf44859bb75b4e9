"""Results on terminals of several sizes: what the screen shows, and in which colours."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shell.terminal import Terminal, times


@pytest.fixture
def small(tmp_path: Path, environ: dict[str, str]) -> Iterator[Terminal]:
    """Of 80 columns and 24 lines."""
    terminal = Terminal(tmp_path, environ, columns=80, rows=24)
    terminal.wait("my.db>")
    yield terminal
    terminal.kill()


def test_a_long_result_fits_a_small_screen_and_last_shows_all_of_it(small: Terminal) -> None:
    small.line("SELECT i AS number FROM range(1000) r(i);")
    shown = small.answer("1,000 rows (10 shown), .last shows all")
    assert "number" in shown and "my.db> SELECT" in shown
    small.line(".last")
    small.wait(lambda shown: "1,000 rows\n" in shown or "1,000 rows in" in shown)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", small.raw()).splitlines()
    assert len({line for line in lines if line.strip(" │").isdigit()}) == 1000


def test_settings_keep_names_and_values_on_a_small_screen(small: Terminal) -> None:
    small.line("SET;")
    shown = small.answer("rows (")
    assert "history_max_age" in shown and "604800" in shown


def test_one_wide_row_is_shown_value_by_value(small: Terminal) -> None:
    columns = ", ".join(f"'value {i} of this row' AS column_{i}" for i in range(8))
    small.line(f"SELECT {columns};")
    shown = small.answer("1 row in ")
    assert "column_4 │ value 4 of this row" in shown


def test_a_join_of_many_columns_keeps_its_numbers_whole(small: Terminal) -> None:
    columns = ", ".join(f"1234567890123456789 + {i} AS a_rather_long_name_{i}" for i in range(8))
    small.line(f"SELECT {columns} FROM range(4);")
    shown = small.answer("4 rows, 8 columns (3 shown)")
    assert "1234567890123456789" in shown and "1234567890123456796" in shown


def test_null_and_errors_have_colours_of_their_own(small: Terminal) -> None:
    small.line("SELECT CAST(NULL AS INT) AS nothing, 'NULL' AS w;")
    assert small.colour_of("NULL │ NULL") == "magenta"
    assert small.colour_of("NULL   │") == "default"
    small.line("SELECT nope;")
    assert small.colour_of("ERROR 42703") == "red"
    assert small.colour_of("^^^^") == "red"


def test_no_colour_is_shown_where_none_is_wanted(tmp_path: Path, environ: dict[str, str]) -> None:
    terminal = Terminal(tmp_path, {**environ, "NO_COLOR": "1"})
    terminal.wait("my.db>")
    terminal.line("SELECT CAST(NULL AS INT) AS nothing; SELECT nope;")
    terminal.answer("ERROR 42703")
    assert terminal.colour_of("ERROR 42703") == terminal.colour_of("NULL │") == "default"
    assert "\x1b[35m" not in terminal.raw() and "\x1b[1;31m" not in terminal.raw()
    terminal.kill()


def test_data_brings_no_colour_of_its_own(small: Terminal) -> None:
    small.line("SELECT concat(chr(27), '[31mred') AS v;")
    assert small.colour_of("\\x1b[31mred") == "default"


def test_the_rows_of_the_past_and_of_the_catalog_fit_a_small_screen(small: Terminal) -> None:
    """One session: what differs stays on the screen, what is all the same goes first."""
    small.line(
        "CREATE TABLE t (id BIGINT PRIMARY KEY, address STRING, note STRING, price DECIMAL(9,2)) "
        "PARTITION BY RANGE (id) (PARTITION VALUES < 5000, PARTITION 5000 <= VALUES);"
        "CREATE SNAPSHOT before; INSERT INTO t VALUES (1, repeat('street ', 9), 'same', 10);"
        "UPDATE t SET price = 15 WHERE id = 1; UPDATE t SET price = 20 WHERE id = 1;"
    )
    small.wait(times(2, "Updated 1 row"))
    small.line("DESCRIBE t;")
    shown = small.answer("4 rows, 11 columns")
    assert "primary_" in shown and "nullable" in shown and "block_size" not in shown
    small.line(".log t 1")
    shown = small.answer("3 versions")
    assert "note same, price 10.00\n" in shown
    assert re.search(r"\d  ~ id=1  price 10\.00 → 15\.00\n.*\d  ~ id=1  price 15\.00 → 20", shown)
    small.line(".diff t since before")
    shown = small.answer("1 added")
    assert "\n    note same, price 20.00\n" in shown
    small.line(".layout t")
    shown = small.answer("░ in memory")
    assert "\n    " in shown  # the heading of a tablet goes on at a word
    small.line(".asof before")
    small.wait("my.db[as of ")
    small.line(".asof off")
    small.wait(lambda shown: shown.endswith("my.db>"))
    small.line("ALTER TABLE t DROP COLUMN note;")
    small.wait("DROP COLUMN takes note of t away.")
    small.line("n")
    small.answer("Nothing was run.")
    small.line(".functions date_tr*")
    small.answer("date_trunc(part, timestamp)")


def test_the_list_of_commands_is_broken_at_words(small: Terminal) -> None:
    small.line(".help")
    small.answer("Everything else is SQL")
    listed = re.sub(r"\x1b\[[0-9;]*m", "", small.raw()).replace("\r", "")
    assert "\n                              such as select  (also \\?, \\h)\n" in listed
