"""Which files a session may use: nothing outside of what the program permits, by any road."""

import os
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.files.file_access import FileAccess
from pykudu_sql.storage.errors import Error, FileAccessError, OperationalError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A permitted folder with a file, beside one with a secret."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (inside / "a.csv").write_text("k\n1\n")
    (inside / "sub" / "b.csv").write_text("k\n2\n")
    (outside / "secret.csv").write_text("k\n3\n")
    return inside


@pytest.fixture
def access(folder: Path) -> FileAccess:
    return FileAccess(str(folder), None, True)


def read(access: FileAccess, pattern: str) -> list[str]:
    return [file.path for file in access.to_read(pattern)]


def test_nothing_is_permitted_unless_the_program_says_so(folder: Path) -> None:
    access = FileAccess(False, None, True)
    for use in (access.to_read, access.to_write):
        with pytest.raises(FileAccessError, match="files=True") as raised:
            use(str(folder / "a.csv"))
        assert raised.value.sqlstate == "42501"


def test_a_relative_path_lies_in_the_folder(access: FileAccess, folder: Path) -> None:
    assert read(access, "a.csv") == [str(folder / "a.csv")]
    assert read(access, "sub/../a.csv") == [str(folder / "a.csv")]
    assert access.to_write("sub/new.csv") == str(folder / "sub" / "new.csv")
    assert read(access, str(folder / "a.csv")) == [str(folder / "a.csv")]


@pytest.mark.parametrize(
    "path",
    ["../out/secret.csv", "sub/../../out/secret.csv", "../out", "../out/*.csv", "../out/none.csv"],
)
def test_a_path_that_goes_up_and_out_is_refused(access: FileAccess, path: str) -> None:
    with pytest.raises(FileAccessError, match="outside"):
        access.to_read(path)


def test_messages_name_files_as_the_folder_does(access: FileAccess, folder: Path) -> None:
    (file,) = access.to_read(str(folder / "sub" / "b.csv"))
    assert file.name == "sub/b.csv"
    (file,) = FileAccess(True, None, True).to_read(str(folder / "a.csv"))
    assert file.name == str(folder / "a.csv")


def test_an_absolute_path_outside_is_refused(access: FileAccess, folder: Path) -> None:
    secret = folder.parent / "out" / "secret.csv"
    for use in (access.to_read, access.to_write):
        with pytest.raises(FileAccessError, match="outside"):
            use(str(secret))


def test_a_folder_whose_name_begins_alike_is_outside(access: FileAccess, folder: Path) -> None:
    beside = folder.with_name("in2")
    beside.mkdir()
    with pytest.raises(FileAccessError, match="outside"):
        access.to_write(str(beside / "x.csv"))


def test_a_link_to_outside_is_refused_as_what_it_leads_to(access: FileAccess, folder: Path) -> None:
    outside = folder.parent / "out"
    (folder / "link.csv").symlink_to(outside / "secret.csv")
    (folder / "gone.csv").symlink_to(outside / "new.csv")
    (folder / "door").symlink_to(outside)
    for path in ("link.csv", "door/secret.csv", "*.csv", "door", "door/*", "door/../out/x", "."):
        with pytest.raises(FileAccessError, match="outside"):
            access.to_read(path)
    for path in ("link.csv", "gone.csv", "door/new.csv"):
        with pytest.raises(FileAccessError, match="outside"):
            access.to_write(path)
    assert sorted(os.listdir(outside)) == ["secret.csv"]


def test_a_link_that_stays_inside_is_what_it_leads_to(access: FileAccess, folder: Path) -> None:
    (folder / "link.csv").symlink_to("sub/b.csv")
    assert read(access, "link.csv") == [str(folder / "sub" / "b.csv")]


def test_a_glob_does_not_go_up(access: FileAccess) -> None:
    with pytest.raises(OperationalError, match="goes up"):
        access.to_read("s*/../../out/*.csv")


def test_a_folder_is_its_files_that_are_not_hidden(access: FileAccess, folder: Path) -> None:
    for name in (".hidden.csv", "_SUCCESS", "b.csv"):
        (folder / name).write_text("")
    assert read(access, ".") == [str(folder / "a.csv"), str(folder / "b.csv")]
    assert read(access, "**/b.csv") == [str(folder / "b.csv"), str(folder / "sub" / "b.csv")]


def test_the_databases_own_directory_is_nobodys(tmp_path: Path) -> None:
    database = tmp_path / "my.db"
    with pykudu_sql.connect(database, files=True, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (k INT PRIMARY KEY)")
        (tmp_path / "link").symlink_to(database)
        for path in (database / "CURRENT", tmp_path / "link" / "CURRENT", database / "x.csv"):
            for statement in (f"COPY t FROM '{path}'", f"COPY t TO '{path}' (FORMAT csv)"):
                with pytest.raises(Error, match="within the database") as raised:
                    connection.execute(statement)
                assert raised.value.sqlstate == "42501"
        assert not (database / "x.csv").exists()


def test_only_plain_files_are_read_and_replaced(access: FileAccess, folder: Path) -> None:
    os.mkfifo(folder / "pipe.csv")
    for use in (access.to_read, access.to_write):
        with pytest.raises(OperationalError, match="no plain file"):
            use("pipe.csv")


def test_what_only_reads_replaces_no_file(folder: Path) -> None:
    access = FileAccess(True, None, False)
    assert access.to_write(str(folder / "new.csv")) == str(folder / "new.csv")
    with pytest.raises(OperationalError, match="replaces no file"):
        access.to_write(str(folder / "a.csv"))


@pytest.mark.parametrize("path", ["none.csv", "x*.csv", "", "a\0b"])
def test_a_file_that_is_not_there_is_named(access: FileAccess, path: str) -> None:
    with pytest.raises(OperationalError) as raised:
        access.to_read(path)
    assert raised.value.sqlstate == "58P01"


def test_a_folder_that_is_not_there_is_not_made(access: FileAccess) -> None:
    with pytest.raises(OperationalError, match="no folder"):
        access.to_write("new/x.csv")


def test_no_statement_permits_files(folder: Path) -> None:
    with (
        pykudu_sql.connect(files=str(folder)) as connection,
        pytest.raises(Error, match=r"for the program to choose[\s\S]*connect\(path, files=...\)"),
    ):
        connection.execute("SET files = '/'")
    with pytest.raises(Error, match="a folder that exists"):
        pykudu_sql.connect(files=str(folder / "none"))
