"""A purge forgets dropped tables behind the ancient history mark, and their files go."""

from pykudu_sql.storage.commit.history_purge import HistoryPurge
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from tests.storage.small_store import SmallStore


def purge_of(small: SmallStore) -> HistoryPurge:
    return small.store._services.purge


def dropped(age: int) -> tuple[SmallStore, MemoryEnv, str]:
    """A store whose table was dropped; its history age, and the tablet's folder."""
    env = MemoryEnv()
    small = SmallStore(env)
    small.upsert({1: 1})
    small.store.flush()
    folder = layout.tablet_directory(small.store.path, small.tablet.id)
    small.store.definitions.set_history_max_age(age)
    small.store.drop_table("t")
    return small, env, folder


def test_a_table_that_a_readable_snapshot_sees_is_not_purged() -> None:
    small, env, folder = dropped(3600)
    purge = purge_of(small)
    assert purge.run() == 0
    assert purge.collect_files() == 0
    assert env.list_dir(folder)


def test_a_table_behind_the_mark_is_purged_once_and_its_folder_goes() -> None:
    small, env, folder = dropped(0)
    purge = purge_of(small)
    assert purge.run() == 1
    assert not small.store.tablets
    assert purge.run() == 0
    assert purge.collect_files() > 0
    assert not env.exists(folder)
