"""Where results go and in which forms: files, commands, dumps, statements, markup, tables."""

import datetime
import html.parser
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pykudu_sql
from pykudu_sql.shell.cli import main
from pykudu_sql.shell.output.export import ROW_EXPORTS
from pykudu_sql.shell.output.sql_literals import inserts, to_sql
from tests.shell.terminal import CTRL_C, Terminal, prompts

Shell = Callable[..., tuple[int, str, str]]
ROWS = [(1, "ann", Decimal("1.50")), (20, None, None)]


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def run(*commands: str, options: tuple[str, ...] = ("--csv",)) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([*options, *(word for text in commands for word in ("-c", text))])
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return run


def exported(style: str, rows: list[tuple[Any, ...]] | None = None, null: str = "NULL") -> str:
    names = ("id", "name", "price")
    return "".join(ROW_EXPORTS[style](names, [ROWS if rows is None else rows], null))


def test_a_box_has_names_and_no_types() -> None:
    assert exported("box") == (
        "┌────┬──────┬───────┐\n"
        "│ id │ name │ price │\n"
        "├────┼──────┼───────┤\n"
        "│  1 │ ann  │  1.50 │\n"
        "│ 20 │ NULL │  NULL │\n"
        "└────┴──────┴───────┘\n"
    )


def test_psql_is_what_psql_prints() -> None:
    assert exported("psql", null="") == (
        " id | name | price\n----+------+-------\n  1 | ann  |  1.50\n 20 |      |\n(2 rows)\n"
    )
    assert exported("psql", []).endswith("(0 rows)\n")


def test_latex_is_a_tabular_in_which_nothing_acts() -> None:
    row = ("100% & \\x_{1}", "a\nb", "<>~^#$")
    lines = exported("latex", [row]).splitlines()
    assert lines[0] == "\\begin{tabular}{lll}"
    assert lines[4] == (
        "100\\% \\& \\textbackslash{}x\\_\\{1\\} & a\\textbackslash{}nb & "
        "\\textless{}\\textgreater{}\\textasciitilde{}\\textasciicircum{}\\#\\$ \\\\"
    )


class Cells(html.parser.HTMLParser):
    """Collects the texts of cells and the names of tags."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts and data.strip():
            self.texts[-1] += data


@given(st.lists(st.text(st.sampled_from("<>&\"'/ab!-"), min_size=1), min_size=3, max_size=3))
def test_html_shows_any_text_and_no_tag_of_the_data(cells: list[str]) -> None:
    parsed = Cells()
    parsed.feed(exported("html", [tuple(cells)]))
    assert parsed.texts[3:] == cells
    assert parsed.tags == {"table", "thead", "tbody", "tr", "th", "td"}


VALUES: list[tuple[str, Any]] = [
    ("BIGINT", -(2**63)), ("DOUBLE", 0.1), ("DOUBLE", 1e300), ("STRING", "it's\n\\ \"q\""),
    ("DECIMAL(12,2)", Decimal("-12345.60")), ("BOOLEAN", True), ("BINARY", b"\x00\xff"),
    ("TIMESTAMP", datetime.datetime(2026, 2, 3, 4, 5, 6, 789)), ("DATE", datetime.date(1, 1, 1)),
    ("STRING", None), ("DOUBLE", float("inf")),
]  # fmt: skip


@pytest.mark.parametrize(("sql_type", "value"), VALUES)
def test_a_literal_reads_as_the_value_it_was(sql_type: str, value: Any) -> None:
    with pykudu_sql.connect(autocommit=True) as connection:
        connection.execute(f"CREATE TABLE t (id INT PRIMARY KEY, v {sql_type})")
        for text in inserts("t", ["id", "v"], [[(1, value)]]):
            connection.execute(text)
        assert connection.execute("SELECT v FROM t").fetchall() == [(value,)]


def test_many_rows_are_several_statements() -> None:
    texts = list(inserts("t", ["n"], [[(i,) for i in range(1001)]]))
    assert [text.count("(") for text in texts] == [501, 501, 2]
    assert to_sql([1, None]) == "[1, NULL]"


def test_results_as_inserts_name_the_table(shell: Shell) -> None:
    code, printed, _ = shell(".mode insert d.t", "SELECT 1 AS a, 'x' AS \"B c\"")
    assert (code, printed) == (0, 'INSERT INTO d.t ("a", "B c") VALUES\n(1, \'x\');\n')
    assert shell(".mode csv t")[0] == 1


def test_a_dump_makes_tables_rows_and_views_again(shell: Shell) -> None:
    shell(
        "CREATE TABLE t (id INT PRIMARY KEY, s STRING); INSERT INTO t VALUES (1, 'a;b'), (2, NULL)",
        "CREATE DATABASE o; CREATE TABLE o.u (id INT PRIMARY KEY); INSERT INTO o.u VALUES (7)",
        "CREATE VIEW v AS SELECT s FROM t WHERE id = 1",
        options=("my.db", "--csv"),
    )
    dump = shell(".dump", options=("my.db",))[1]
    Path("dump.sql").write_text(dump)
    assert main(["new.db", "-f", "dump.sql"]) == 0
    assert shell(".dump", options=("new.db",))[1] == dump
    assert shell("SELECT s, id FROM v, o.u", options=("new.db", "--csv"))[1] == "s,id\na;b,7\n"


def test_once_takes_one_result_and_no_other(shell: Shell) -> None:
    code, printed, _ = shell(".once one.csv", "SELECT 1 AS n; SELECT 2 AS n")
    assert (code, printed) == (0, "n\n2\n")
    assert Path("one.csv").read_text() == "n\n1\n"


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("csv", "a,b\n1,x\n"), ("TSV", "a\tb\n1\tx\n"), ("jsonl", '{"a": 1, "b": "x"}\n'),
        ("json", '[{"a": 1, "b": "x"}]\n'), ("md", "| a | b |\n| --- | --- |\n| 1 | x |\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", [".once", ".output"])
def test_the_suffix_of_a_file_is_its_format_unless_a_mode_was_chosen(
    shell: Shell, tmp_path: Path, command: str, suffix: str, text: str
) -> None:
    shell(f"{command} x.{suffix}", "SELECT 1 AS a, 'x' AS b", options=())
    assert (tmp_path / f"x.{suffix}").read_text() == text
    shell(".mode tsv", f"{command} y.{suffix}", "SELECT 1 AS a, 'x' AS b", options=())
    assert (tmp_path / f"y.{suffix}").read_text() == "a\tb\n1\tx\n"


def test_results_may_go_through_a_command(shell: Shell) -> None:
    code, printed, _ = shell(".once |sort -r", "SELECT * FROM range(3) r(n)", "SELECT 9 AS m")
    assert (code, printed) == (0, "n\n2\n1\n0\nm\n9\n")


def test_a_command_that_reads_no_more_ends_nothing_but_itself(shell: Shell) -> None:
    many = "SELECT * FROM range(300000) r(n)"
    code, printed, errors = shell(".output |head -1", many, ".output", "SELECT 5 AS m")
    assert printed.startswith("n\n")
    assert "Traceback" not in errors and (code == 0 or "has ended" in errors)


def test_a_command_that_fails_says_with_which_code(shell: Shell) -> None:
    code, _, errors = shell(".once |exit 3", "SELECT 1 AS n")
    assert (code, "ended with code 3" in errors) == (1, True)


def test_a_command_of_the_system_prints_between_results(shell: Shell) -> None:
    assert shell("SELECT 1 AS n", ".shell echo 'a  b'", "SELECT 2 AS n")[:2] == (
        0,
        "n\n1\na  b\nn\n2\n",
    )
    assert "ended with code 4" in shell(".shell exit 4")[2]


@pytest.mark.parametrize("line", [".once x.csv", ".output |cat", ".shell id", "\\! id", "\\o |cat"])
def test_safe_mode_starts_no_program_and_writes_no_file(shell: Shell, line: str) -> None:
    code, printed, errors = shell(line, "SELECT 1 AS n", options=("--csv", "--safe"))
    assert (code, printed) == (1, "")
    assert "is not available in safe mode" in errors
    assert list(Path().glob("*.csv")) == []


def test_a_read_only_session_replaces_no_file_once_either(shell: Shell) -> None:
    shell("SELECT 1", options=("my.db",))
    Path("kept").write_text("mine")
    code, _, errors = shell(".once kept", "SELECT 1", options=("my.db", "--read-only"))
    assert (code, "replaces no file" in errors, Path("kept").read_text()) == (1, True, "mine")


def test_values_of_parameters_come_from_the_command_line_and_from_param(shell: Shell) -> None:
    options = ("--csv", "-p", "a=40", "--param", "b=x=y")
    query = "SELECT :a + 2 AS n, :b AS s"
    assert shell(query, ".param a 1", query, options=options)[1] == "n,s\n42,x=y\nn,s\n3,x=y\n"
    assert "07001" in shell(query, ".param a", query, options=options)[2]
    assert shell(".param", options=options)[1] == ":a = 40\n:b = x=y\n"
    assert shell("SELECT 1", options=("--param", "nonsense"))[0] == 2


def test_bail_decides_whether_a_script_goes_on(shell: Shell) -> None:
    assert shell(".bail off", "NONSENSE", "SELECT 1 AS n")[:2] == (1, "n\n1\n")
    assert shell(".bail on", "NONSENSE", "SELECT 1 AS n", options=("--csv", "--keep-going"))[
        :2
    ] == (
        1,
        "",
    )


def test_echo_prints_statements_before_their_results(shell: Shell) -> None:
    assert shell(".echo on", "SELECT 1 AS n")[1] == "SELECT 1 AS n;\nn\n1\n"


def test_echo_prints_no_statement_of_the_shell_itself(shell: Shell) -> None:
    created = "CREATE TABLE t (k INT PRIMARY KEY)"
    answer = shell(".echo on", created, ".describe t", ".tables", "SELECT 2 AS n", ".again")[1]
    echoed = [line for line in answer.splitlines() if line.endswith(";")]
    assert echoed == [f"{created};", "SELECT 2 AS n;", "SELECT 2 AS n;"]


def test_watch_runs_the_last_statement_so_many_times(shell: Shell) -> None:
    assert shell("SELECT 1 AS n", ".watch 0 3")[1] == "n\n1\n" * 4
    assert "no number of seconds" in shell("SELECT 1", ".watch often")[2]


def test_ctrl_c_ends_a_watch_and_keeps_the_session(terminal: Terminal) -> None:
    terminal.line("SELECT 41 + 1 AS n;")
    terminal.wait(prompts(2))
    terminal.line(".watch 0.2")
    seen = len(terminal.raw())
    terminal.wait(lambda _: terminal.raw()[seen:].count("42") >= 3)
    terminal.type(CTRL_C)
    terminal.wait("Cancelled.")
    terminal.line("SELECT 'still here' AS v;")
    terminal.answer("│ still here │")
