"""`.import` and `.export`: files and tables, and tables made for files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pykudu_sql
from tests.shell.commands.script_output import output_of


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "my.db"
    output_of(path, "CREATE TABLE t (k INT PRIMARY KEY, word STRING);")
    return path


def test_rows_go_out_and_in(database: Path, tmp_path: Path) -> None:
    (tmp_path / "it's.csv").write_text("k,word\n1,a\n2,b\n")
    assert "Copied 2 row(s)" in output_of(database, f'.import "{tmp_path}/it\'s.csv" t')
    assert "Copied 2 row(s)" in output_of(database, f".export t {tmp_path}/t.parquet")
    query = "SELECT word FROM t WHERE word <> 'a'"
    assert "Copied 1 row(s)" in output_of(database, f'.export "{query};" {tmp_path}/b.json')
    assert (tmp_path / "b.json").read_text() == '{"word":"b"}\n'
    assert pq.read_table(tmp_path / "t.parquet").num_rows == 2


def test_a_table_is_made_with_the_types_and_a_key_of_the_file(
    database: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_text(
        "Kind,zip,Id,price,at,big\n"
        "a,007,1,1.5,2026-01-31 12:00:00,1.2345678901234567\n"
        "a,123,2,,2026-02-01 00:00:00,2\n"
    )
    printed = output_of(database, f".import {tmp_path}/x.csv db2 --create\nDESCRIBE db2;")
    assert "Copied 2 row(s)" in printed
    with pykudu_sql.connect(database) as connection:
        rows = connection.execute("DESCRIBE db2").fetchall()
        types = {row[0]: row[1] for row in rows}
        assert types == {
            "kind": "STRING", "zip": "STRING", "id": "BIGINT", "price": "DOUBLE",
            "at": "TIMESTAMP", "big": "STRING",
        }  # fmt: skip
        key = "PRIMARY KEY (id)"
        assert key in connection.execute("SHOW CREATE TABLE db2").fetchall()[0][-1].replace('"', "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", '{"a": 1, "b": {}}'.replace("{}", "2")),
        ("y.json", '[{"a": 1, "b": 2},\n{"a": 1, "b": 3}]'),
    ],
)
def test_json_has_its_types_too(database: Path, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert "Copied" in output_of(database, f".import {tmp_path}/{name} j --create --key b,a")
    with pykudu_sql.connect(database) as connection:
        assert [row[1] for row in connection.execute("DESCRIBE j").fetchall()] == ["BIGINT"] * 2


@pytest.mark.parametrize("option", ["--null -", "--null=-"])
def test_an_option_says_how_null_is_written(database: Path, tmp_path: Path, option: str) -> None:
    (tmp_path / "x.csv").write_text("k,n,word\n1,-,-\n2,7,a\n")
    assert "Copied 2 row(s)" in output_of(database, f".import {tmp_path}/x.csv x --create {option}")
    (tmp_path / "y.csv").write_text("k,n\n3,-\n")
    assert "Copied 1 row(s)" in output_of(database, f".import {option} {tmp_path}/y.csv x")
    with pykudu_sql.connect(database) as connection:
        rows = connection.execute("SELECT k, n, word FROM x ORDER BY k").fetchall()
    assert rows == [(1, None, None), (2, 7, "a"), (3, None, None)]
    assert "usage: .import" in output_of(database, f".import {tmp_path}/y.csv x --null")


def test_a_key_of_two_columns_is_found(database: Path, tmp_path: Path) -> None:
    rows = pa.table({"a": [1, 1, 2], "b": ["x", "y", "x"], "c": [0.5, 1.5, 2.5]})
    pq.write_table(rows, tmp_path / "x.parquet")
    assert "Copied 3 row(s)" in output_of(database, f".import {tmp_path}/x.parquet p --create")
    with pykudu_sql.connect(database) as connection:
        made = connection.execute("SHOW CREATE TABLE p").fetchall()[0][-1].replace('"', "")
    assert "PRIMARY KEY (a, b)" in made


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,1\n1,1\n", "--create", "name the key"),
        ("a,b\n1,1\n1,2\n", "--create --key a", "23505"),
        ("a,b\n1,1\n", "--create --key c", "no column 'c'"),
        ("a,b\n1,1\n", "--key a", "--key belongs to --create"),
        ("a,b\n1,1\n", "--create --key", "usage: .import"),
        ("a,b\n1,1\n", "--creat", "usage: .import"),
        ("", "--create", "cannot be read"),
        ("a,b\n1,2,3\n4,5\n", "--create", "line 2"),
    ],
)
def test_what_cannot_be_made_is_told_and_leaves_no_table(
    database: Path, tmp_path: Path, text: str, options: str, message: str
) -> None:
    (tmp_path / "x.csv").write_text(text)
    printed = output_of(database, f".import {tmp_path}/x.csv made {options}\n.tables")
    assert message in printed, printed
    assert "made" not in printed.splitlines()[-1]


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ('.export "SELECT 1 FROM" x.csv', "ERROR 42601: syntax error at the end of the query\n"),
        ('.export "SELECT x FROM sys.tables" x.csv', "LINE 1: SELECT x FROM sys.tables\n"),
        (".export \"SELECT 1) TO 'y.csv' (\" x.csv", "ERROR: no '(' opens the ')' in the query\n"),
        (".export nothing x.csv", "ERROR 42P01: table 'nothing' does not exist\n"),
        (".export t x.foo", "HINT: end it with .csv, "),
        (".import x.csv nothing.t", "does not exist"),
    ],
)
def test_errors_quote_what_was_typed(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, printed: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a\n1\n")
    shown = output_of(database, line)
    assert printed in shown
    assert "COPY (" not in shown and 'COPY "' not in shown


def test_a_table_that_goes_again_is_named_with_the_ways_out(database: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,1\n1,2\n")
    printed = output_of(database, f".import {tmp_path}/x.csv made --create --key a")
    assert "line 3" in printed
    assert 'Table "made" has been dropped again: nothing was imported.' in printed
    assert "SET row_errors = 'collect'" in printed
    script = f"SET row_errors = 'collect';\n.import {tmp_path}/x.csv made --create --key a"
    assert "Copied 1 row(s), 1 row(s) failed" in output_of(database, script)


def test_types_are_those_of_all_rows_of_all_files(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pykudu_sql.files.inferred_table.SAMPLE_BYTES", 1 << 10)
    rows = "".join(f"{number},{number},{number}\n" for number in range(400))
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "a.csv").write_text(f"k,v,w\n{rows}400,1.5,x\n")
    (tmp_path / "many" / "b.csv").write_text("k,v,w\n401,2,2026-01-31\n")
    assert "Copied 402 row(s)" in output_of(database, f".import {tmp_path}/many m --create")
    with pykudu_sql.connect(database) as connection:
        types = [row[1] for row in connection.execute("DESCRIBE m").fetchall()]
    assert types == ["BIGINT", "DOUBLE", "STRING"]


def test_a_file_without_a_header_has_numbered_columns(database: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1,a\n2,b\n")
    line = f".import {tmp_path}/x.csv x --create --no-header"
    assert "Copied 2 row(s)" in output_of(database, line)
    assert "Copied 2 row(s)" in output_of(database, f".import {tmp_path}/x.csv t --no-header")
    with pykudu_sql.connect(database) as connection:
        rows = connection.execute("SELECT column1, column2 FROM x ORDER BY 1").fetchall()
        assert rows == [(1, "a"), (2, "b")] == connection.execute("TABLE t").fetchall()


def test_copy_into_a_table_that_is_not_there_says_how_to_make_it(
    database: Path, tmp_path: Path
) -> None:
    assert ".import FILE TABLE --create" in output_of(database, "COPY nope FROM 'x.csv';")


def test_nested_columns_are_refused(database: Path, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": 1, "b": [1]}')
    output = output_of(database, f".import {tmp_path}/x.json j --create")
    assert "which no table takes" in output
    assert "frame" not in output


def test_safe_mode_has_neither_command(database: Path, tmp_path: Path) -> None:
    for line in (f".import {tmp_path}/x.csv t", f".export t {tmp_path}/x.csv"):
        assert "safe mode" in output_of(database, line, safe=True)
    assert not (tmp_path / "x.csv").exists()


def test_who_only_reads_replaces_no_file(database: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("before")
    assert "replaces no file" in output_of(database, f".export t {tmp_path}/x.csv", read_only=True)
    assert (tmp_path / "x.csv").read_text() == "before"


def test_a_table_that_is_not_there_is_made_on_request(database: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("k,word\n1,a\n")
    answer = output_of(database, f".import {tmp_path}/new.csv fresh")
    assert "there is no table 'fresh'; --create makes it" in answer
    assert "Copied 1 row(s)" in output_of(database, f".import {tmp_path}/new.csv T")
    assert "Copied 1 row(s)" in output_of(database, f".import {tmp_path}/new.csv fresh --create")


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_first_line_says_what_stands_between_cells(
    database: Path, tmp_path: Path, delimiter: str
) -> None:
    file = tmp_path / "x.csv"
    file.write_text("k,word\n1,a b\n2,\n".replace(",", delimiter))
    assert "Copied 2 row(s)" in output_of(database, f".import {file} x --create\n.import {file} t")
    with pykudu_sql.connect(database) as connection:
        rows = connection.execute("SELECT * FROM x ORDER BY k").fetchall()
        assert rows == connection.execute("SELECT * FROM t ORDER BY k").fetchall()
    assert rows == [(1, "a b"), (2, None)]
    assert "(DELIMITER '" in output_of(database, f"COPY t FROM '{file}';")


def test_names_of_a_header_are_made_different(database: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id, Total ,Total,\n1,2,3,4\n")
    assert "Copied 1 row(s)" in output_of(database, f".import {tmp_path}/x.csv x --create")
    with pykudu_sql.connect(database) as connection:
        row = connection.execute("SELECT id, total, total_1, column4 FROM x").fetchone()
    assert row == (1, 2, 3, 4)


def test_a_table_whose_name_has_blanks_comes_back(database: Path, tmp_path: Path) -> None:
    output_of(database, 'CREATE TABLE b (" k" INT PRIMARY KEY); INSERT INTO b VALUES (1);')
    printed = output_of(
        database, f".export b {tmp_path}/b.csv\nTRUNCATE b;\n.import {tmp_path}/b.csv b"
    )
    assert printed.count("Copied 1 row(s)") == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("k,n\n1,2\n".encode("utf-16"), "iconv -f UTF-16"),
        ("k,word\n1,Käse\n".encode("latin-1"), "iconv -f WINDOWS-1252"),
        (b"k,n\n1,NULL\n2,3\n", "--null NULL"),
        (b"k,n\n1,N/A\n2,3\n", "--null N/A"),
    ],
)
def test_an_error_says_how_the_file_can_be_read(
    database: Path, tmp_path: Path, data: bytes, message: str
) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    assert message in output_of(database, f".import {tmp_path}/x.csv x --create")
    with pykudu_sql.connect(database) as connection:
        assert connection.list_tables() == ["t"]
