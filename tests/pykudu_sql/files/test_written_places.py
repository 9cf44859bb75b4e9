"""Whatever writes files keeps them apart from every database, by any road."""

import io
import os
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import NamedTuple

import pytest

import pykudu_sql
from pykudu_sql import Error
from pykudu_sql.jobs.backup import backup
from pykudu_sql.jobs.changes import ChangesOptions, changes
from pykudu_sql.jobs.export import ExportOptions, export
from pykudu_sql.jobs.load import LoadOptions, load
from pykudu_sql.jobs.restore import restore
from pykudu_sql.jobs.table_layout import TableLayout
from pykudu_sql.shell.cli import main

Door = Callable[["Places", str], None]


class Places(NamedTuple):
    """Two databases, of which the first is used, a backup of it, and a file to be loaded."""

    own: Path
    other: Path
    steps: Path
    source: Path

    def content(self) -> dict[str, bytes]:
        """All that the databases and the backup consist of, but for what opening them changes."""
        found = {}
        for root in (self.own, self.other, self.steps):
            for path in root.rglob("*"):
                if path.is_symlink() or path.name in ("LOCK", "DURABLE"):
                    continue
                if {"tmp", "manifest"}.intersection(path.parts):
                    continue
                found[str(path)] = path.read_bytes() if path.is_file() else b""
        return found


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    folder = tmp_path_factory.mktemp("places")
    made = Places(
        folder / "of" / "own.db", folder / "of" / "other.db", folder / "steps", folder / "a.csv"
    )
    made.own.parent.mkdir()
    for root in (made.own, made.other):
        with pykudu_sql.connect(root, autocommit=True) as connection:
            connection.execute("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
            connection.execute("INSERT INTO t VALUES (1, 1)")
            connection.execute("FLUSH")
    backup(str(made.own), str(made.steps))
    made.source.write_text("k,v\n7,x\n")
    (folder / "a.test").write_text("statement ok\nSELECT 1\n")
    (folder / "to_other").symlink_to(made.other)
    (folder / "to_current.csv").symlink_to(made.other / "CURRENT")
    (made.other / "leads_out").symlink_to(folder / "outside")
    (folder / "outside").mkdir()
    os.link(made.other / "wal" / "1.log", folder / "linked_log.csv")
    os.link(next(made.own.rglob("*.base")), folder / "linked_base.csv")
    return made


FILES = (
    "of/own.db/x.csv",
    "of/own.db/CURRENT",
    "of/own.db/tmp/x.csv",
    "of/other.db/wal/1.log",
    "of/own.db/../other.db/x.csv",
    "to_other/x.csv",
    "to_current.csv",
    "linked_log.csv",
    "linked_base.csv",
    "steps/0000/manifest.json",
)
FOLDERS = (
    "of/own.db",
    "of/own.db/x",
    "of/other.db",
    "of/other.db/tablets",
    "of/other.db/new/x",
    "of/own.db/../other.db/x",
    "of",
    "to_other",
    "to_other/x",
    "of/other.db/leads_out",
    "steps/0000",
)
NEW_DATABASES = ("of/own.db/x.db", "of/other.db/tmp", "to_other/x.db", "steps/0000/x.db")


def shell(places: Places, *arguments: str) -> None:
    """Run a command line; its refusal becomes an error."""
    told = io.TextIOWrapper(io.BytesIO())
    with redirect_stderr(told):
        code = main(list(arguments))
    if code:
        told.seek(0)
        raise AssertionError(told.read())


def copied(options: str) -> Door:
    def run(places: Places, target: str) -> None:
        with pykudu_sql.connect(places.own, files=True, autocommit=True) as connection:
            connection.execute(f"COPY t TO '{target}' ({options})")

    return run


def command(text: str) -> Door:
    def run(places: Places, target: str) -> None:
        shell(places, str(places.own), "-c", f"{text.format(target)}\n", "-c", "SELECT 1")

    return run


def memory_command(places: Places, target: str) -> None:
    shell(places, ":memory:", "-c", f".output {target}")


FILE_DOORS: dict[str, Door] = {
    "COPY TO": copied("FORMAT csv"),
    ".output": command(".output {}"),
    ".once": command(".once {}"),
    ".export": command(".export t {}"),
    ".output of a database in memory": memory_command,
    "load --rejects": lambda places, target: _drop(
        load(str(places.own), "t", [str(places.source)], LoadOptions(rejects=target))
    ),
    "inspect --html": lambda places, target: shell(
        places, "inspect", str(places.own), "--html", target
    ),
    "slt --junit": lambda places, target: shell(
        places, "slt", str(places.source.with_name("a.test")), "--junit", target
    ),
}
FOLDER_DOORS: dict[str, Door] = {
    "COPY TO PARTITION BY": copied("FORMAT csv, PARTITION_BY (v), OVERWRITE"),
    "export": lambda places, target: _drop(
        export(str(places.own), "t", target, ExportOptions(overwrite=True))
    ),
    "changes": lambda places, target: _drop(
        changes(str(places.own), "t", target, ChangesOptions(overwrite=True))
    ),
}
NEW_DATABASE_DOORS: dict[str, Door] = {
    "connect": lambda places, target: pykudu_sql.connect(target).close(),
    "load": lambda places, target: _drop(
        load(
            target,
            "t",
            [str(places.source)],
            LoadOptions(layout=TableLayout(primary_key=("k",))),
        )
    ),
    "restore": lambda places, target: _drop(restore(str(places.steps), target)),
    "backup": lambda places, target: _drop(backup(str(places.own), target)),
}


def _drop(report: object) -> None:
    assert report is not None


def check_refused(places: Places, door: Door, target: str) -> None:
    before = places.content()
    with pytest.raises((Error, AssertionError)) as raised:
        door(places, target)
    text = str(raised.value)
    told = ("a place within the database", "is a file of a database", "lies in")
    assert any(words in text for words in told), text
    assert "HINT" in text or raised.value.hint  # type: ignore[union-attr]
    if isinstance(raised.value, Error):
        assert raised.value.sqlstate == "42501"
    assert places.content() == before


@pytest.mark.parametrize("door", FILE_DOORS)
@pytest.mark.parametrize("target", FILES)
def test_a_file_is_written_to_no_place_of_a_database(
    places: Places, door: str, target: str
) -> None:
    if door == ".export" and not target.endswith("csv"):
        return  # the name says the format, and there is none
    check_refused(places, FILE_DOORS[door], str(places.source.parent / target))


@pytest.mark.parametrize("door", FOLDER_DOORS)
@pytest.mark.parametrize("target", FOLDERS)
def test_no_folder_takes_a_place_of_a_database(places: Places, door: str, target: str) -> None:
    if (door, target) == ("COPY TO PARTITION BY", "of/other.db/leads_out"):
        return  # which writes to where the link leads
    check_refused(places, FOLDER_DOORS[door], str(places.source.parent / target))


@pytest.mark.parametrize("door", NEW_DATABASE_DOORS)
@pytest.mark.parametrize("target", NEW_DATABASES)
def test_no_database_is_made_within_another(places: Places, door: str, target: str) -> None:
    check_refused(places, NEW_DATABASE_DOORS[door], str(places.source.parent / target))


@pytest.mark.parametrize("target", ["of/own.db/tmp", "of/other.db/wal", "to_other"])
def test_nothing_spills_into_a_database(places: Places, target: str) -> None:
    def spilling(places: Places, target: str) -> None:
        pykudu_sql.connect(places.own, spill_directory=target).close()

    check_refused(places, spilling, str(places.source.parent / target))


def test_a_database_is_not_backed_up_around_itself(places: Places) -> None:
    check_refused(places, NEW_DATABASE_DOORS["backup"], str(places.own.parent))


@pytest.mark.parametrize("door", FILE_DOORS)
def test_beside_a_database_files_are_written(places: Places, door: str, tmp_path: Path) -> None:
    target = tmp_path / "x.csv"
    FILE_DOORS[door](places, str(target))
    assert target.exists()


@pytest.mark.parametrize("name", ["a.csv", "./a.csv", "../in/a.csv", "link.csv"])
@pytest.mark.parametrize("source", ["a.csv", "*.csv", "."])
def test_rejects_do_not_replace_what_is_loaded(
    places: Places, tmp_path: Path, name: str, source: str
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("k,v\n7,x\n")
    (folder / "link.csv").symlink_to(folder / "a.csv")
    options = LoadOptions(rejects=f"{folder}/{name}")
    with pytest.raises(Error, match="rejects would overwrite it") as raised:
        load(str(places.own), "t", [f"{folder}/{source}"], options)
    assert raised.value.sqlstate == "42501"
    assert (folder / "a.csv").read_text() == "k,v\n7,x\n"
