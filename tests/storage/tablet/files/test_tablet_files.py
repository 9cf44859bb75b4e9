"""The files of a tablet from their number to their removal, each step by itself."""

import pytest

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.fs.env import Env
from pykudu_sql.storage.fs.layout import leases_directory, temporary_path
from pykudu_sql.storage.fs.lease import Lease
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.store import Store, StoreOptions
from pykudu_sql.storage.tablet.files.file_reaper import FileReaper
from pykudu_sql.storage.tablet.files.staged_files import discard_files, staging
from pykudu_sql.storage.tablet.files.tablet_files import TabletFiles

ROOT = "/db"
TABLET = "6f0c0c3e-4f5e-4f0e-8d7c-0d8f2c1b3a4d"


class Reader:
    """An object through which a file is read."""


class Files:
    """The files of one tablet in a database in memory; `dropped` is the manifest's position."""

    def __init__(self) -> None:
        self.env: Env = MemoryEnv()
        Store(self.env, ROOT, StoreOptions(maintenance=False)).close()
        self.dropped = (1, 5)
        self.forgotten: list[str] = []
        self.reaper = FileReaper(self.env, ROOT, lambda: self.dropped, self.forgotten.append)
        cache = BlockCache(1 << 20)
        self.files = TabletFiles(self.env, ROOT, bytes(16), TABLET, cache, self.reaper)
        self.files.make_folder()

    def write(self, number: int) -> str:
        path = self.files.staging_path("redo", number)
        self.env.create(path, point="test.create").close()
        return path

    def publish(self, number: int) -> str:
        self.write(number)
        self.files.publish([("redo", number)], "test")
        return self.files.path("redo", number)


@pytest.fixture
def tablet() -> Files:
    return Files()


def test_numbers_are_never_handed_out_twice(tablet: Files) -> None:
    first = tablet.files.new_number()
    tablet.files.reserve(first + 4)
    tablet.files.reserve(first)
    assert tablet.files.new_number() == first + 5


def test_a_file_lies_in_the_staging_folder_until_it_is_published(tablet: Files) -> None:
    staged = tablet.write(1)
    assert staged.startswith(temporary_path(ROOT, TABLET))
    tablet.files.publish([("redo", 1)], "test")
    assert not tablet.env.exists(staged)
    assert tablet.env.exists(tablet.files.path("redo", 1))
    assert tablet.files.files_written == 1


def test_publishing_a_file_again_does_nothing(tablet: Files) -> None:
    tablet.publish(1)
    tablet.files.publish([("redo", 1)], "test")
    assert tablet.files.files_written == 1


def test_a_published_file_can_be_discarded_until_the_manifest_may_name_it(tablet: Files) -> None:
    unnamed, named = tablet.publish(1), tablet.publish(2)
    tablet.files.note_named([("redo", 2)])
    tablet.files.discard("redo", 1)
    tablet.files.discard("redo", 2)
    assert [tablet.env.exists(path) for path in (unnamed, named)] == [False, True]


def test_an_operation_that_fails_leaves_none_of_its_files(tablet: Files) -> None:
    with pytest.raises(KeyError), staging(tablet.files) as staged:
        staged += [("redo", 1), ("redo", 2)]
        path = tablet.write(1)
        raise KeyError
    assert not tablet.env.exists(path)


def test_files_that_were_not_written_are_discarded_without_an_error(tablet: Files) -> None:
    discard_files(tablet.files, [("redo", 7)])


def test_a_retired_file_goes_when_nobody_reads_it(tablet: Files) -> None:
    path = tablet.publish(1)
    reader = Reader()
    tablet.reaper.retire(path, reader)
    assert (tablet.reaper.collect(), tablet.env.exists(path)) == (0, True)
    assert (tablet.reaper.collect_last(), tablet.env.exists(path)) == (1, False)
    assert tablet.forgotten == [path]


def test_a_file_waits_for_a_lease_that_has_not_followed_its_edit(tablet: Files) -> None:
    tablet.env.make_dir(leases_directory(ROOT))
    lease = Lease.take(tablet.env, ROOT)
    lease.move_to((1, 4))
    path = tablet.publish(1)
    tablet.reaper.retire(path, reader := Reader())
    assert (tablet.reaper.collect_last(), tablet.env.exists(path)) == (0, True)
    lease.move_to((1, 5))
    assert (tablet.reaper.collect(), tablet.env.exists(path)) == (1, False)
    assert reader
