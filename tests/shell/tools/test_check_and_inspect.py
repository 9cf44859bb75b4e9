"""`pykudu-sql check` and `pykudu-sql inspect` as commands."""

from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.shell.cli import main


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with pykudu_sql.connect(tmp_path / "my.db", autocommit=True) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
        conn.execute("INSERT INTO t VALUES (1, 'one'), (2, NULL)")
        conn.flush()
    return tmp_path / "my.db"


def test_a_sound_database_is_ok(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out.startswith("ok: ")
    assert main(["check", "--quick", str(path)]) == 0


def test_a_damaged_file_is_named_with_a_way_out(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (base,) = path.rglob("*.base")
    whole = base.read_bytes()
    base.write_bytes(whole[:9] + bytes([whole[9] ^ 1]) + whole[10:])
    assert main(["check", str(path)]) == 1
    first, way_out, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{base}: ") and "backup" in way_out
    assert "1 problem in" in last and "kept from being looked at" in last


def test_what_a_killed_process_left_is_counted_and_no_damage(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (base,) = path.rglob("*.base")
    base.with_name("77.base").write_bytes(b"unfinished")
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("ok: ") and "1 file was left over" in said
    pykudu_sql.connect(path).close()
    assert main(["check", str(path)]) == 0
    assert "left over" not in capsys.readouterr().out


def test_inspect_prints_what_lies_on_disk(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(path)]) == 0
    assert "table t: 1 tablet, 1 rowset, 2 live rows" in capsys.readouterr().out
    assert main(["inspect", str(path), "tablet", "x"]) == 2
    assert "HINT" in capsys.readouterr().err


def test_both_work_beside_a_writer(path: Path) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute("INSERT INTO t VALUES (3, 'three')")
        assert main(["check", str(path)]) == 0
        assert main(["inspect", str(path), "wal"]) == 0


@pytest.mark.parametrize("command", ["check", "inspect"])
def test_where_there_is_no_database_that_is_said(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / "none")]) == 2
    assert "there is no database" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["{}", "-c", "SELECT 1"],
        ["{}", "--read-only", "-c", "SELECT 1"],
        ["inspect", "{}"],
        ["backup", "{}", "steps"],
        ["export", "{}", "t", "folder"],
        ["load", "{}", "t", "rows.csv"],
    ],
)
def test_a_database_that_lost_its_current_is_not_taken_for_none(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pykudu_sql.connect("my.db", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY)")
        connection.execute("INSERT INTO t VALUES (1)")
    (tmp_path / "rows.csv").write_text("k\n1\n")
    (tmp_path / "my.db" / "CURRENT").unlink()
    assert main([word.format("my.db") for word in words]) == 1
    message = capsys.readouterr().err
    assert "CURRENT' is missing, but" in message and "restore" in message
