"""What commands show of a database: tables, columns, schemas that make it again."""

from pathlib import Path

import pytest

from pykudu_sql.shell.cli import main
from tests.shell.terminal import Terminal, prompts

SCHEMA = """
CREATE TABLE t (id BIGINT, k STRING, v DECIMAL(9,2) NOT NULL DEFAULT 1, PRIMARY KEY (id, k))
  PARTITION BY HASH (id) PARTITIONS 2 COMMENT 'the table';
CREATE INDEX by_v ON t (k, v);
CREATE DATABASE other;
CREATE TABLE other.u (id INT PRIMARY KEY, "odd name" STRING);
CREATE VIEW z AS SELECT id FROM t;
CREATE VIEW a AS SELECT id FROM z;
USE other;
CREATE VIEW w AS SELECT "odd name" FROM u;
USE "default";
INSERT INTO t VALUES (1, 'x', 2), (2, 'y', 3);
"""


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert main(["my.db", "--csv", "-c", SCHEMA]) == 0
    return "my.db"


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_a_schema_makes_every_object_again_in_another_database(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = shown(capsys, database, "-c", ".schema")
    Path("schema.sql").write_text(schema)
    shown(capsys, "new.db", "-f", "schema.sql")
    assert shown(capsys, "new.db", "-c", ".schema") == schema
    assert shown(capsys, "new.db", "-c", ".tables") == "a\nother.u\nother.w\nt\nz\n"
    assert shown(capsys, "new.db", "--csv", "-c", ".indexes") == (
        "table,index,column\nt,by_v,k\nt,by_v,v\n"
    )
    assert shown(capsys, "new.db", "--csv", "-c", "SELECT * FROM other.w; SELECT * FROM a") == (
        "odd name\nid\n"
    )


@pytest.mark.parametrize("pattern", ["t*", "t%", "T%"])
def test_a_pattern_of_a_list_is_that_of_a_file_or_of_like(
    database: str, capsys: pytest.CaptureFixture[str], pattern: str
) -> None:
    assert shown(capsys, database, "-c", f".tables {pattern}") == "t\n"


def test_columns_are_described_in_a_few_words(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(capsys, database, "--csv", "-c", "\\d t") == (
        "name,type,key,null,default\n"
        "id,BIGINT,key 1,not null,\n"
        "k,STRING,key 2,not null,\n"
        'v,"DECIMAL(9,2)","",not null,1.00\n'
    )
    described = shown(capsys, database, "-c", "\\d t")
    assert "PARTITION BY HASH (id) PARTITIONS 2\n" in described
    assert described.endswith("COMMENT 'the table'\nINDEX by_v (k, v)\n")
    assert "SELECT id FROM z" in shown(capsys, database, "-c", "\\d a")
    assert "odd name" in shown(capsys, database, "-c", "\\d other.u")
    assert "odd name" in shown(capsys, database, "-c", "USE other", "-c", "\\d u")
    assert "disk_bytes" in shown(capsys, database, "-c", "\\d sys.tables")


def test_sizes_of_columns_are_those_on_disk(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(capsys, database, "--json", "-c", "FLUSH", "-c", "\\d+ t")
    assert '"name": "k"' in lines and '"stored": "' in lines and '"rows": 2' in lines


def test_functions_are_listed_by_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, "--csv", "-c", ".functions date_ad*") == (
        'name,call\ndate_add,"date_add(date, interval)"\n'
    )


def test_a_table_that_is_not_there_is_an_error_with_the_usual_hint(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([database, "-c", "\\d nope"]) == 1
    assert "ERROR 42P01: table 'nope' does not exist" in capsys.readouterr().err


def test_a_terminal_shows_rows_and_sizes_of_tables(terminal: Terminal) -> None:
    terminal.line("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2);")
    terminal.wait(prompts(2))
    terminal.line("CREATE VIEW v AS SELECT id FROM t;")
    terminal.wait(prompts(3))
    terminal.line(".tables")
    table = terminal.answer("2 rows")
    assert "│ t      │ table  │      2 │" in table
    assert "│ v      │ view   │   NULL │" in table


def test_a_narrow_terminal_shows_encodings_and_sizes_of_columns(terminal: Terminal) -> None:
    columns = ", ".join(f"column_{number} STRING" for number in range(9))
    terminal.line(f"CREATE TABLE t (id INT PRIMARY KEY, {columns} ENCODING PREFIX_ENCODING);")
    terminal.wait(prompts(2))
    terminal.line(".maxwidth 80")
    terminal.wait(prompts(3))
    terminal.line("\\d+ t")
    terminal.answer("t has no files yet, so no sizes: FLUSH TABLE t")
    terminal.line("INSERT INTO t (id, column_0) SELECT x, 'text' FROM range(1000) r(x); FLUSH;")
    terminal.wait(prompts(5))
    terminal.line("\\d+ t")
    table = terminal.answer(" disk ")
    assert all(name in table for name in ("encoding", "plain"))


def test_a_listing_has_all_its_rows_on_a_small_screen_and_a_query_does_not(tmp_path: Path) -> None:
    columns = ", ".join(f"c{i} INT" for i in range(1, 31))
    program = Terminal(tmp_path, {}, columns=80, rows=24)
    try:
        program.wait("my.db>")
        program.line(f"CREATE TABLE w (c0 INT PRIMARY KEY, {columns});")
        program.answer("Table has been created")
        before = len(program.raw())
        program.line("\\d w")
        program.answer("31 rows in")
        listed = program.raw()[before:]
        assert all(f"c{i} " in listed for i in range(31))
        for statement in ("DESCRIBE w", "show columns from w", "-- of w\nDESC w", "SUMMARIZE w"):
            program.line(f"{statement};")
            program.answer("31 rows in")
            program.line(".shell clear")
            program.wait("my.db>")
        program.line("SELECT * FROM range(31) r(x);")
        program.answer("31 rows (10 shown)")
    finally:
        program.kill()
