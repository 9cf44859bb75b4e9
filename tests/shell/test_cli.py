"""The command line as a program: results, places of errors, exit codes, no tracebacks."""

import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.shell.cli import main
from pykudu_sql.shell.subcommands import SUBCOMMANDS

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING); INSERT INTO t VALUES (1, 'a'), (2, NULL)"
PROGRAM = [sys.executable, "-m", "pykudu_sql"]


@dataclass(frozen=True)
class Done:
    """What a run of the program left."""

    returncode: int
    stdout: str
    stderr: str


class Shell:
    """Runs the command line in this process, in a folder of its own."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str, stdin: str = "") -> Done:
        typed = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        self._monkeypatch.setattr(sys, "stdin", typed)
        try:
            code = main(arguments)
        except SystemExit as leaving:  # argparse leaves this way
            code = int(leaving.code or 0)
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", str(ROOT)))
    return Shell(tmp_path, monkeypatch, capsys)


def test_a_statement_prints_its_result(shell: Shell) -> None:
    done = shell("-c", "SELECT 1 AS one, 'x' AS x")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["│", "one", "│", "x", "│"]
    assert lines[4].split() == ["│", "1", "│", "x", "│"]
    assert lines[-1] == "1 row"


def test_a_row_of_literals_is_printed_without_any_of_the_large_libraries() -> None:
    program = (
        "import sys; from pykudu_sql.shell.cli import main;"
        "assert main(['-c', 'SELECT 1']) == 0;"
        "print(sorted({'duckdb', 'numpy', 'prompt_toolkit', 'pyarrow', 'sqlglot'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().endswith("1 row\n[]\n")


@pytest.mark.parametrize("output_format", ["csv", "tsv", "json", "jsonlines", "box"])
def test_values_of_every_kind_are_printed_without_pandas(output_format: str) -> None:
    row = (
        "SELECT 1 AS a, 'x \"y\"' AS b, 0.5e0 AS c, 2e20 AS d, NULL AS e, DATE '2020-01-01' AS f,"
        " TIMESTAMP '2020-01-01 00:00:00.5' AS g, 1.5 AS h, true AS i, '' AS j"
    )
    program = (
        "import sys; from pykudu_sql.shell.cli import main;"
        f"assert main(['--format', '{output_format}', '-c', {row!r}]) == 0;"
        "print('pyarrow' in sys.modules, 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().endswith("True False\n")


def test_rows_by_key_counts_and_listings_are_printed_in_every_format_without_pandas(
    tmp_path: Path,
) -> None:
    with pykudu_sql.connect(tmp_path / "my.db") as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, s STRING)")
        connection.execute("INSERT INTO t VALUES (1, 'x'), (2, NULL)")
        connection.commit()
    statements = [
        "SELECT * FROM t WHERE id = 1",
        "SELECT * FROM t WHERE id IN (1, 2)",
        "SELECT count(*) FROM t",
        "SHOW TABLES",
        "DESCRIBE t",
    ]
    program = (
        "import sys; from pykudu_sql.shell.cli import main;"
        "from pykudu_sql.shell.settings import FORMATS;"
        f"loading = [(name, sql) for name in FORMATS for sql in {statements!r}"
        " if main(['my.db', '--format', name, '-c', sql]) or 'pandas' in sys.modules];"
        "print('pandas for', loading)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout.decode().endswith("pandas for []\n"), done.stderr.decode()


def test_a_row_of_literals_loads_few_modules_and_none_that_starts_programs() -> None:
    program = (
        "import sys; from pykudu_sql.shell.cli import main;"
        "assert main(['-c', 'SELECT 1']) == 0;"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    loaded = done.stdout.decode().split()
    assert {"socket", "subprocess"}.isdisjoint(loaded)
    assert len([name for name in loaded if name.startswith("pykudu_sql")]) <= 227


def test_what_was_written_is_there_for_the_next_process(shell: Shell) -> None:
    assert shell("my.db", "-c", TABLE).returncode == 0
    done = shell("my.db", "--format", "csv", "-c", "SELECT * FROM t ORDER BY id")
    assert done.stdout == "id,v\n1,a\n2,\n"


def test_options_may_stand_in_any_order(shell: Shell) -> None:
    first = shell("--json", "-c", "SELECT 1 AS n")
    last = shell("-c", "SELECT 1 AS n", ":memory:", "--json")
    assert first.stdout == last.stdout == '[{"n": 1}]\n'


def test_commands_and_files_run_in_the_order_given(shell: Shell) -> None:
    (shell.folder / "middle.sql").write_text("SELECT 2 AS n;\n.mode json\n")
    done = shell("--csv", "-c", "SELECT 1 AS n", "-f", "middle.sql", "-c", "SELECT 3 AS n")
    assert done.stdout == 'n\n1\nn\n2\n[{"n": 3}]\n'


def test_standard_input_is_a_script(shell: Shell) -> None:
    done = shell("--csv", stdin="-- a comment; with a semicolon\nSELECT 1 AS a;\nSELECT 2 AS b")
    assert (done.returncode, done.stdout) == (0, "a\n1\nb\n2\n")


def test_a_script_stops_at_the_first_error_and_names_the_line(shell: Shell) -> None:
    (shell.folder / "s.sql").write_text("SELECT 1 AS n;\n\nSELECT\n  nope;\nSELECT 2 AS n;\n")
    done = shell("--csv", "-f", "s.sql")
    assert (done.returncode, done.stdout) == (1, "n\n1\n")
    assert done.stderr.startswith("s.sql:4: ERROR 42703: ")
    assert "^" in done.stderr


def test_a_script_may_keep_going_and_still_fails(shell: Shell) -> None:
    done = shell("--csv", "--keep-going", "-c", "NONSENSE; SELECT 1 AS n", "-c", "SELECT 2 AS n")
    assert (done.returncode, done.stdout) == (1, "n\n1\nn\n2\n")
    assert done.stderr.startswith("ERROR 42601: ")


def test_an_error_in_a_script_that_another_one_reads_is_placed_there(shell: Shell) -> None:
    (shell.folder / "inner.sql").write_text("SELECT 1;\nNONSENSE;\n")
    (shell.folder / "outer.sql").write_text("\n.read inner.sql\nSELECT 3 AS after;\n")
    done = shell("-f", "outer.sql")
    assert done.returncode == 1
    assert done.stderr.startswith("inner.sql:2: ERROR 42601: ")
    assert "after" not in done.stdout


def test_scripts_that_read_themselves_come_to_an_end(shell: Shell) -> None:
    (shell.folder / "loop.sql").write_text(".read loop.sql\n")
    done = shell("-f", "loop.sql")
    assert done.returncode == 1 and "nested more than 16 deep" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--formt", "csv"], "unrecognized arguments"),
        (["my.db", "SELECT 1"], "statements are given with -c"),
        (["--format", "cvs"], "invalid choice"),
        (["-f", "missing.sql"], "cannot read missing.sql: No such file"),
        (["slt", "missing.test"], "no such file or folder: missing.test"),
        (["--max-rows", "-1", "-c", "SELECT 1"], "max_rows"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(
    shell: Shell, arguments: list[str], message: str
) -> None:
    done = shell(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_nothing_runs_when_one_of_the_scripts_is_missing(shell: Shell) -> None:
    done = shell("-c", "SELECT 1", "-f", "missing.sql")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_script_that_is_no_text_is_refused(shell: Shell) -> None:
    (shell.folder / "binary.sql").write_bytes(b"SELECT '\xff'")
    done = shell("-f", "binary.sql")
    assert done.returncode == 2 and "not UTF-8 at byte 8" in done.stderr


def test_a_wrong_settings_file_is_named_and_can_be_left_out(shell: Shell) -> None:
    config = shell.folder / "config" / "pykudu-sql" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("format = 'nothing'\n")
    done = shell("-c", "SELECT 1")
    assert done.returncode == 2 and f"{config}: unknown format" in done.stderr
    assert shell("--no-init", "-c", "SELECT 1").returncode == 0


def test_a_database_open_elsewhere_is_told_with_its_holder(shell: Shell) -> None:
    program = (
        "import sys, pykudu_sql; held = pykudu_sql.connect(sys.argv[1]);"
        "print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "held.db"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "open\n"
        done = shell("held.db", "-c", "SELECT 1")
        holder.communicate("")
    assert done.returncode == 1
    assert "ERROR 55006" in done.stderr and str(holder.pid) in done.stderr


def test_a_read_only_database_is_not_written(shell: Shell) -> None:
    shell("my.db", "-c", TABLE)
    done = shell("my.db", "--read-only", "-c", "DELETE FROM t")
    assert done.returncode == 1 and "ERROR 25006" in done.stderr
    assert shell("my.db", "--csv", "-c", "SELECT count(*) AS n FROM t").stdout == "n\n2\n"


def test_the_engine_of_a_session_is_chosen_on_the_command_line(shell: Shell) -> None:
    shell("my.db", "-c", TABLE)
    plan = shell("my.db", "--engine", "auto", "--csv", "-c", "EXPLAIN SELECT a.* FROM t a, t b")
    assert "ENGINE duckdb" in plan.stdout and "not on Spark: its scans take about" in plan.stdout
    assert "ENGINE\n" in shell("my.db", "--csv", "-c", "EXPLAIN SELECT a.* FROM t a, t b").stdout


def test_a_reader_that_goes_away_is_no_error_message(shell: Shell) -> None:
    with subprocess.Popen(
        [*PROGRAM, "--csv", "-c", "SELECT * FROM range(3000000)"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_ctrl_c_stops_a_script_with_130(shell: Shell) -> None:
    slow = "SELECT count(*) FROM range(100000000000) a, range(1000) b"
    with subprocess.Popen(
        [*PROGRAM, "--csv", "-c", "SELECT 1 AS started", "-c", slow],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_an_open_transaction_ends_with_the_script(shell: Shell) -> None:
    shell("my.db", "-c", TABLE)
    done = shell("my.db", "-c", "BEGIN; DELETE FROM t")
    assert done.returncode == 1 and "rolled back" in done.stderr
    assert shell("my.db", "-c", "BEGIN; DELETE FROM t", "-c", ".open b.db").returncode == 1
    assert shell("my.db", "--csv", "-c", "SELECT count(*) AS n FROM t").stdout == "n\n2\n"


def test_csv_and_json_tell_null_from_empty(shell: Shell) -> None:
    query = "SELECT NULL AS a, '' AS b, 'x,y' AS c"
    text = shell("--csv", "-c", query).stdout
    assert text == 'a,b,c\n,"","x,y"\n'
    assert list(csv.reader(io.StringIO(text)))[1] == ["", "", "x,y"]
    assert json.loads(shell("--json", "-c", query).stdout) == [{"a": None, "b": "", "c": "x,y"}]


def test_commands_work_in_scripts(shell: Shell) -> None:
    script = f"{TABLE};\n.tables\n.mode csv\n.null NONE\nSELECT v FROM t ORDER BY id;\n"
    done = shell("my.db", stdin=script)
    assert done.stdout.endswith("t\nv\na\nNONE\n")


def test_the_choices_in_force_read_as_the_commands_take_them(shell: Shell) -> None:
    script = ".timer on\n.maxrows 7\n.settings\n.null '-'\n.settings"
    lines = shell("-c", script).stdout.splitlines()
    assert lines[:4] == ["format: table", "timer: on", "null: as the format has it", "max_rows: 7"]
    assert "null: -" in lines[4:]


def test_results_may_go_to_a_file(shell: Shell) -> None:
    done = shell("--csv", stdin=".output out.csv\nSELECT 1 AS n;\n.output\nSELECT 2 AS n;\n")
    assert done.stdout == "n\n2\n"
    assert (shell.folder / "out.csv").read_text() == "n\n1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".tabels", "unknown command '.tabels'; did you mean '.tables'?"),
        ("\\dw", r"unknown command '\dw'; did you mean '\d'?"),
        ("\\c other", r"unknown command '\c'; here it is .open"),
        (".nullvalue X", "unknown command '.nullvalue'; here it is .null"),
        (".mode column", "unknown format 'column'; here it is 'table'"),
        (".mode", None),
        (".timer maybe", "usage: .timer [on|off]"),
        (".null", "usage: .null TEXT"),
        (".maxrows many", "'many' is not a number"),
        (".read 'open", "No closing quotation"),
        (".open", "usage: .open DB"),
    ],
)
def test_a_wrong_command_says_what_is_right(shell: Shell, text: str, message: str | None) -> None:
    done = shell("-c", text)
    assert done.returncode == (0 if message is None else 1)
    assert (message or "") in done.stderr


def test_help_lists_every_command(shell: Shell) -> None:
    text = shell("-c", ".help").stdout
    for name in (".tables", ".schema", ".mode", ".timer", ".read", ".open", ".quit", "\\dt"):
        assert name in text
    assert "\\x" in shell("-c", ".help expanded").stdout


def test_schema_prints_statements_that_make_the_table_again(shell: Shell) -> None:
    shell("my.db", "-c", TABLE)
    schema = shell("my.db", "-c", ".schema").stdout
    assert shell("copy.db", stdin=schema).returncode == 0
    assert shell("copy.db", "-c", ".schema").stdout == schema


def test_a_bare_statement_loads_no_terminal_library(shell: Shell) -> None:
    program = (
        "import sys; from pykudu_sql.shell.cli import main; main(['--csv', '-c', 'SELECT 1 AS n']);"
        "print('prompt_toolkit' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "n\n1\nFalse\n"


@pytest.mark.parametrize("word", ["chekc", "chek", "lod", "metrics", "-", "data base"])
def test_a_first_word_that_is_no_command_and_no_path_makes_nothing(shell: Shell, word: str) -> None:
    done = shell(word, "-c", "SELECT 1")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{word}' is neither a command nor a database" in done.stderr
    assert "commands: slt, check, " in done.stderr and shlex.quote(f"./{word}") in done.stderr
    assert list(shell.folder.iterdir()) == []


def test_a_command_written_almost_right_is_suggested(shell: Shell) -> None:
    assert "did you mean 'check'?" in shell("chekc", "my.db").stderr


def test_settings_of_the_database_are_given_when_it_is_opened(shell: Shell) -> None:
    settings = ["--set", "durability=normal", "--set", "memory_limit=2GB", "--set", "threads=2"]
    query = "SELECT name, value FROM (SHOW SETTINGS) WHERE name IN ('durability', 'threads')"
    done = shell("my.db", *settings, "--csv", "-c", query)
    assert done.stdout == "name,value\ndurability,normal\nthreads,2\n", done.stderr
    refused = shell("my.db", "-c", "SET memory_limit = '2GB'").stderr
    assert "in the shell --set memory_limit=..." in refused
    assert "in the shell --read-only\n" in shell("my.db", "-c", "SET read_only = true").stderr
    assert "there is no setting 'nosuch'" in shell("my.db", "--set", "nosuch=1").stderr
    for name in ("files", "read_only", "engine"):
        done = shell("my.db", "--safe", "--set", f"{name}=true", "-c", "SELECT 1")
        assert (done.returncode, f"--set {name}: " in done.stderr) == (2, True)


def test_a_script_in_place_of_a_database_is_told_how_it_runs(shell: Shell) -> None:
    (shell.folder / "a b.sql").write_text("SELECT 1;")
    done = shell("a b.sql")
    assert done.returncode == 2
    assert "is a file, and a database is a directory" in done.stderr
    assert "-f 'a b.sql'" in done.stderr


def test_a_command_behind_options_is_told_its_place(shell: Shell) -> None:
    done = shell("--read-only", "check", "my.db")
    assert done.returncode == 2
    assert "'check' is a command and stands before all options: pykudu-sql check DB" in done.stderr


@pytest.mark.parametrize("name", ["my.db", "./metrics", "metrics/"])
def test_a_path_makes_a_database(shell: Shell, name: str) -> None:
    assert shell(name, "-c", TABLE).returncode == 0
    assert (shell.folder / name / "CURRENT").exists()


def test_a_folder_that_exists_needs_no_separator(shell: Shell) -> None:
    assert shell("./metrics", "-c", TABLE).returncode == 0
    assert shell("metrics", "--csv", "-c", "SELECT count(*) AS n FROM t").stdout == "n\n2\n"


def test_help_lists_every_subcommand_and_explains_one(shell: Shell) -> None:
    done = shell("help")
    assert done.returncode == 0
    for command in SUBCOMMANDS:
        assert f"pykudu-sql {command.name}" in done.stdout
    assert "--quick" in shell("help", "check").stdout
    assert shell("help", "nothing").returncode == 2
    assert "'chekc' is no command; did you mean" in shell("help", "chekc").stderr
    assert list(shell.folder.iterdir()) == []


def test_a_mistyped_name_opens_no_database(shell: Shell) -> None:
    done = shell("-c", ".open metrics")
    assert done.returncode == 1 and "there is no database 'metrics'" in done.stderr
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize("command", [".read x.sql", ".output x.csv", ".open x.db", ".output"])
def test_safe_mode_refuses_commands_that_take_a_file(shell: Shell, command: str) -> None:
    (shell.folder / "x.sql").write_text("SELECT 1;")
    done = shell("--safe", "-c", command)
    assert (done.returncode, done.stdout) == (1, "")
    assert "safe mode" in done.stderr
    assert [path.name for path in shell.folder.iterdir()] == ["x.sql"]


def test_safe_mode_runs_everything_else(shell: Shell) -> None:
    (shell.folder / "x.sql").write_text("SELECT 2 AS n;")
    done = shell("--safe", "--csv", "-c", TABLE, "-c", ".tables", "-f", "x.sql")
    assert (done.returncode, done.stdout) == (0, "t\nn\n2\n")


def test_a_read_only_session_writes_new_files_and_replaces_none(shell: Shell) -> None:
    shell("my.db", "-c", TABLE)
    (shell.folder / "old.csv").write_text("kept")
    done = shell("my.db", "--read-only", "--csv", "-c", ".output old.csv", "-c", "SELECT 1 AS n")
    assert (done.returncode, done.stdout) == (1, "")
    assert "old.csv: it exists" in done.stderr
    assert (shell.folder / "old.csv").read_text() == "kept"
    new = shell("my.db", "--read-only", "--csv", "-c", ".output new.csv", "-c", "SELECT 1 AS n")
    assert new.returncode == 0
    assert (shell.folder / "new.csv").read_text() == "n\n1\n"


@pytest.mark.parametrize(
    "text",
    [
        "root:x:0:0:secret\n",
        "-----BEGIN\nsecret\n",
        "[secret]\nsecret = 1\n",
        "{'secret': 1}",
        ".secret word",
        "\\secret",
        "SELECT 1; secret",
    ],
)
def test_the_words_of_a_file_that_is_no_script_are_not_printed(shell: Shell, text: str) -> None:
    (shell.folder / "notes").write_text(text)
    done = shell("-c", ".read notes")
    assert done.returncode == 1
    assert "secret" not in done.stderr and "notes:" in done.stderr


@pytest.mark.parametrize("shows", [".again", ".vertical", ".edit", ".save x"])
def test_the_words_of_a_file_that_is_no_sql_are_not_echoed_or_run_again(
    shell: Shell, shows: str
) -> None:
    (shell.folder / "notes").write_text("the secret words\n")
    done = shell("--keep-going", "-c", ".echo on", "-c", ".read notes", "-c", shows)
    assert "ERROR 42601: neither SQL nor a command stands here" in done.stderr
    assert "secret" not in done.stdout + done.stderr
    (shell.folder / "good.sql").write_text("SELECT 7 AS n;\n")
    assert "SELECT 7 AS n;" in shell("-c", ".echo on", "-c", ".read good.sql").stdout


def test_a_misspelt_word_of_a_script_that_is_read_is_suggested(shell: Shell) -> None:
    (shell.folder / "x.sql").write_text("SELCT 1;\n")
    assert "did you mean 'SELECT'" in shell("-c", ".read x.sql").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("-f", "a\x1b[31mb.sql"),
        ("a\x1b[31mb.db", "--read-only", "-c", "SELECT 1"),
        ("a\x1b[31mb",),
        ("--format", "a\x1b[31mb"),
        ("check", "a\x1b[31mb.db"),
        ("check", "my.db", "a\x1b[31mb"),
        ("inspect", "a\x1b[31mb.db"),
        ("slt", "a\x1b[31mb.test"),
        ("slt", "--state", "a\x1b[31mb", "x"),
        ("help", "a\x1b[31mb"),
        ("demo", "--a\x1b[31mb"),
        ("load", "my.db", "t", "a\x1b[31mb.csv"),
        ("load", "my.db", "t", "f.csv", "--format", "a\x1b[31mb"),
        ("export", "a\x1b[31mb.db", "t", "out", "--hash", "a\x1b[31mb"),
        ("-c", ".read a\x1b[31mb"),
        ("-c", ".output nowhere/a\x1b[31mb"),
    ],
)
def test_no_error_shows_a_raw_escape_sequence(shell: Shell, arguments: tuple[str, ...]) -> None:
    done = shell(*arguments)
    assert done.returncode != 0
    assert done.stderr and "\x1b" not in done.stderr + done.stdout


def test_text_of_csv_is_kept_from_being_a_formula_if_asked(shell: Shell) -> None:
    query = "SELECT '=1+1' AS a, '-x' AS b, '@y' AS c, -1 AS d, 'e-1' AS e, NULL AS \"+f\""
    plain = shell("--csv", "-c", query).stdout
    assert plain == "a,b,c,d,e,+f\n=1+1,-x,@y,-1,e-1,\n"
    guarded = shell("--csv", "--guard-formulas", "-c", query).stdout
    assert guarded == "a,b,c,d,e,'+f\n'=1+1,'-x,'@y,-1,e-1,\n"
    as_json = shell("--format", "jsonlines", "--guard-formulas", "-c", "SELECT '=1' AS a").stdout
    assert as_json == '{"a": "=1"}\n'


def test_names_of_columns_are_left_out_of_csv_and_tsv_if_asked(shell: Shell) -> None:
    query = "SELECT 1 AS a, 2 AS b"
    assert shell("--csv", "--no-header", "-c", query).stdout == "1,2\n"
    assert shell("--csv", "--no-header", "-c", "SELECT 1 AS a WHERE false").stdout == ""
    commands = (".headers off", query, ".headers on", query, ".mode json", ".headers off", query)
    shown = shell("--format", "tsv", *(word for c in commands for word in ("-c", c))).stdout
    assert shown == '1\t2\na\tb\n1\t2\n[{"a": 1, "b": 2}]\n'


def test_the_version_needs_no_database(shell: Shell) -> None:
    done = shell("--version")
    assert done.returncode == 0 and done.stdout.startswith("pykudu-sql ")


def test_the_script_runner_reports_and_fails(shell: Shell) -> None:
    (shell.folder / "good.test").write_text("query I\nSELECT 1\n----\n1\n")
    (shell.folder / "bad.test").write_text("query I\nSELECT 1\n----\n2\n")
    good = shell("slt", "good.test", "--state", "all")
    assert good.returncode == 0
    assert good.stdout.startswith("1 file in 6 states: 6 records run, 0 failed, 0 skipped")
    bad = shell("slt", ".", "--junit", "report.xml")
    assert bad.returncode == 1 and "bad.test:1: [memory] the result differs" in bad.stdout
    assert 'failures="1"' in (shell.folder / "report.xml").read_text()


@pytest.mark.parametrize("command", [".output", ".once"])
def test_results_are_written_over_no_file_of_the_database(tmp_path: Path, command: str) -> None:
    path = tmp_path / "own.db"
    assert main([str(path), "-c", "CREATE TABLE t (k INT PRIMARY KEY)"]) == 0
    assert main([str(path), "-c", f"{command} {path}/CURRENT", "-c", "SELECT 1"]) != 0
    assert main([str(path), "-c", "SELECT * FROM t"]) == 0
