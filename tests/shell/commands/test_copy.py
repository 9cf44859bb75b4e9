"""COPY in the shell: its user's files, none in safe mode, and none replaced by who only reads."""

from pathlib import Path

import pytest

from tests.shell.commands.script_output import output_of


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "my.db"
    output_of(path, "CREATE TABLE t (k INT PRIMARY KEY); INSERT INTO t VALUES (1);")
    return path


def test_the_users_files_are_written_and_read(database: Path, tmp_path: Path) -> None:
    script = f"COPY t TO '{tmp_path}/x.csv'; DELETE FROM t; COPY t FROM '{tmp_path}/x.csv';"
    assert output_of(database, script).count("Copied 1 row(s)") == 2


def test_safe_mode_refuses_files(database: Path, tmp_path: Path) -> None:
    for statement in (f"COPY t TO '{tmp_path}/x.csv'", f"COPY t FROM '{tmp_path}/x.csv'"):
        text = output_of(database, statement + ";", safe=True)
        assert "ERROR 42501" in text and "a shell may that is started without --safe" in text
    assert not (tmp_path / "x.csv").exists()


def test_who_only_reads_replaces_no_file(database: Path, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("before")
    said_twice = output_of(
        database, f"COPY t TO '{tmp_path}/y.csv'; COPY t TO '{tmp_path}/x.csv';", read_only=True
    )
    assert "Copied 1 row(s)" in said_twice and "ERROR 58P02" in said_twice
    assert (tmp_path / "x.csv").read_text() == "before"
