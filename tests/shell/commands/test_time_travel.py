"""The past in the shell: moments, changes of rows, versions of a row, the layout of a table."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pykudu_sql
from pykudu_sql.shell.cli import main
from pykudu_sql.shell.commands.timestamps import timestamp_sql, wall_time
from pykudu_sql.shell.output.drawings.row_changes import change_line, net_changes, version_lines
from pykudu_sql.shell.output.drawings.rowset_picture import RowsetShape, draw_rowsets
from pykudu_sql.shell.output.spans import text_of
from tests.shell.terminal import Terminal, prompts

STEPS = """
CREATE TABLE t (id INT, k STRING, v INT, PRIMARY KEY (id, k));
INSERT INTO t VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30);
CREATE SNAPSHOT before;
UPDATE t SET v = 11 WHERE id = 1; UPDATE t SET v = 12 WHERE id = 1;
UPDATE t SET v = 31 WHERE id = 3; UPDATE t SET v = 30 WHERE id = 3;
DELETE FROM t WHERE id = 2; INSERT INTO t VALUES (4, 'd', NULL);
CREATE SNAPSHOT middle;
DELETE FROM t WHERE id = 4;
"""


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert main(["my.db", "--csv", "-c", STEPS]) == 0

    def run(*commands: str, options: tuple[str, ...] = ()) -> str:
        capsys.readouterr()
        code = main(["my.db", *options, *(word for c in commands for word in ("-c", c))])
        printed = capsys.readouterr()
        return printed.out if code == 0 else printed.err

    return run


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("10 min ago", "'10 min ago'"),
        ("now", "'now'"),
        ("7354336834990473216", "7354336834990473216"),
        ("2026-01-31 12:00", "'2026-01-31 12:00'"),
        ("before", "snapshot('before')"),
        ("Snapshot before", "snapshot('before')"),
        ("snapshot after", "'snapshot after'"),
        ("it's", "'it''s'"),
    ],
)
def test_a_moment_is_read_as_people_say_it(text: str, sql: str) -> None:
    assert timestamp_sql(text, {"before"}) == sql


def test_a_unit_of_time_that_does_not_exist_names_those_there_are(
    shell: Callable[..., str],
) -> None:
    for command in (".asof 5 minits ago", ".diff t since 5 minits ago"):
        printed = shell(command)
        assert "'minits' is no unit of time" in printed and "minute" in printed


@pytest.mark.parametrize("command", [".diff t since tuesday", ".asof tuesday", ".log t ten a"])
@pytest.mark.parametrize("options", [(), ("--csv",)])
def test_an_error_shows_no_statement_that_nobody_typed(
    shell: Callable[..., str], command: str, options: tuple[str, ...]
) -> None:
    error = shell(command, options=options)
    assert "ERROR 22" in error and "LINE" not in error
    assert not {"CHANGES", "AS OF", "SNAPSHOT", "snapshot("} & set(re.split(r"(?<=\()|\s", error))


def test_a_hybrid_timestamp_has_a_time_of_day() -> None:
    with pykudu_sql.connect(autocommit=True) as connection:
        now = connection.execute("SELECT now()").fetchone()
        assert now is not None
        apart = abs((wall_time(connection.snapshot_timestamp()) - now[0]).total_seconds())
    assert apart < 600


def test_all_tables_are_read_at_a_moment_and_at_now_again(shell: Callable[..., str]) -> None:
    count = "SELECT count(*) AS n FROM t"
    assert shell(".asof before", count, ".asof off", count, options=("--csv",)) == "n\n3\nn\n2\n"
    assert shell(".asof before", ".asof now()", count, options=("--csv",)) == "n\n2\n"


def test_a_diff_shows_what_became_of_each_row_and_no_more(shell: Callable[..., str]) -> None:
    assert shell(".diff t since before") == (
        "~ id=1 k=a  v 10 → 12\n- id=2 k=b  v 20\n0 added, 1 changed, 1 removed\n"
    )
    assert shell(".diff t since before until middle").splitlines()[-2:] == [
        "+ id=4 k=d  v NULL",
        "1 added, 1 changed, 1 removed",
    ]
    assert shell(".diff t since middle until now").startswith("- id=4 k=d  v NULL\n")
    assert "_change_type" in shell(".diff t before", options=("--csv",))


@pytest.mark.parametrize("key", ["1 a", "id=1 k=a", "k=a 1"])
def test_the_log_of_a_key_has_every_version_of_its_row(shell: Callable[..., str], key: str) -> None:
    lines = shell(f".log t {key}", options=("--csv",)).splitlines()
    assert [line.rsplit(",", 1)[1] for line in lines] == ["v", "10", "11", "12"]


def test_the_log_shows_what_each_version_changed_and_when_the_row_was_gone(
    shell: Callable[..., str],
) -> None:
    shell("DELETE FROM t WHERE id = 1", "INSERT INTO t VALUES (1, 'a', 7)")
    lines = shell(".log t 1 a").splitlines()
    assert [line[28:] for line in lines[:-1]] == [
        "+ id=1 k=a  v 10", "~ id=1 k=a  v 10 → 11", "~ id=1 k=a  v 11 → 12", "- id=1 k=a",
        "+ id=1 k=a  v 7",
    ]  # fmt: skip
    assert len({line[:26] for line in lines[:-1]}) == 5 and lines[-1] == "4 versions"
    assert shell(".log t 2 b").splitlines()[-2][28:] == "- id=2 k=b"
    assert shell(".log t 99 x") == "0 versions\n"


def test_a_version_from_before_the_history_says_so() -> None:
    (first, second) = version_lines(("id", "v"), 1, [(None, 5, (1, 2)), (5, None, (1, 3))])
    assert text_of(first) == f"{'before the history':<26}  + id=1  v 2"
    assert text_of(second) == f"{5:<26}  ~ id=1  v 2 → 3"


def test_the_moment_that_is_read_is_told_as_a_time(shell: Callable[..., str]) -> None:
    printed = shell(".asof", ".asof 2001-02-03 04:05:06", ".asof", ".asof off", ".asof")
    assert printed.count("Tables are read as they are now.") == 2
    assert "Tables are read as of 2001-02-03 04:05:06 UTC (" in printed


@pytest.mark.parametrize("words", ["t 1", "t 1 a b", "t id=1"])
def test_a_log_needs_the_whole_key(shell: Callable[..., str], words: str) -> None:
    assert "the key of 't' is (id, k)" in shell(f".log {words}")


def test_a_table_that_is_not_there_names_a_near_one(shell: Callable[..., str]) -> None:
    assert "there is no table 'tt'; did you mean 't'?" in shell(".layout tt")


def test_a_layout_draws_memory_and_disk_apart(shell: Callable[..., str]) -> None:
    drawn = shell(
        "CREATE TABLE u (id INT PRIMARY KEY); INSERT INTO u VALUES (1), (2); FLUSH u",
        "INSERT INTO u VALUES (9)",
        ".layout u",
    )
    lines = [line.strip() for line in drawn.splitlines()]
    assert [line for line in lines if set(line) <= set("█ 0123456789") and "█" in line]
    assert [line for line in lines if set(line) <= set("░ 0123456789") and "░" in line]
    assert "2 rowsets, 3 rows, " in drawn


def test_the_prompt_shows_the_moment_and_forgets_it(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id INT PRIMARY KEY);")
    terminal.wait(prompts(2))
    terminal.line(".asof 2001-02-03 04:05:06")
    terminal.wait("my.db[as of 2001-02-03 04:05:06]>")
    terminal.line("SET as_of = DEFAULT;")
    terminal.wait(lambda shown: shown.endswith("my.db>"))


ROWS = st.dictionaries(st.integers(0, 5), st.integers(0, 3), max_size=5)


@given(st.lists(ROWS, min_size=1, max_size=6))
def test_the_net_changes_applied_to_the_first_state_give_the_last(
    states: list[dict[int, int]],
) -> None:
    events: list[tuple[int, int, str, tuple[int, int]]] = []
    for moment, (old, new) in enumerate(pairwise(states)):
        for key in old.keys() | new.keys():
            if key not in new:
                events.append((key, moment, "delete", (key, old[key])))
            elif key not in old:
                events.append((key, moment, "insert", (key, new[key])))
            elif old[key] != new[key]:
                events.append((key, moment, "update_preimage", (key, old[key])))
                events.append((key, moment, "update_postimage", (key, new[key])))
    events.sort(key=lambda event: event[:2])
    state = dict(states[0])
    for old, new in net_changes(((kind, row) for *_, kind, row in events), keys=1):
        assert old != new
        if old is not None:
            assert state.pop(old[0]) == old[1]
        if new is not None:
            state[new[0]] = new[1]
    assert state == states[-1]


def test_a_row_that_came_shows_all_its_cells_and_one_that_changed_those_that_differ() -> None:
    names = ("id", "a", "b")
    assert text_of(change_line(names, 1, None, (1, "x", None))) == "+ id=1  a x, b NULL"
    assert text_of(change_line(names, 1, (1, "x", 2), (1, "x", 3))) == "~ id=1  b 2 → 3"
    assert text_of(change_line(names, 1, (1, "x", 2), None)) == "- id=1  a x, b 2"


RANGES = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)


@given(st.lists(RANGES, max_size=12), st.integers(8, 120))
def test_every_rowset_is_drawn_once_and_lines_are_equally_long(
    ranges: list[list[float]], columns: int
) -> None:
    shapes = [RowsetShape(i, low, high) for i, (low, high) in enumerate(ranges)]
    lines = draw_rowsets(shapes, columns)
    assert {len(text_of(line)) for line in lines} <= {columns}
    bars = sum(span.text[0] != "·" for line in lines for span in line)
    assert bars == len(shapes)
