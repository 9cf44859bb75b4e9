"""Spark's tasks bring the files of a backup, which is the same as the one this process makes."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pykudu_sql
from pykudu_sql.jobs.backup import BackupOptions, backup
from pykudu_sql.jobs.restore import RestoreOptions, restore
from pykudu_sql.storage.errors import CorruptionError


def test_either_engine_restores_what_the_other_has_backed_up(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    target = tmp_path / "backup"
    with pykudu_sql.connect(path, autocommit=True, maintenance=False) as conn:
        conn.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
        for number, engine in enumerate(("spark", "local", "spark")):
            conn.execute(f"INSERT INTO t VALUES ({number})")
            conn.execute("FLUSH")
            assert (
                f"{number + 1} files new"
                in backup(path, str(target), BackupOptions(engine=engine)).note
            )
    for number, engine in enumerate(("local", "spark", "spark")):
        place = str(tmp_path / f"{number}.db")
        restore(str(target), place, RestoreOptions(str(number), engine=engine))
        with pykudu_sql.connect(place) as conn:
            assert conn.execute("SELECT count(*) FROM t").fetchall() == [(number + 1,)]
    file = min(target.glob("files/*/*"))
    file.unlink()
    with pytest.raises(CorruptionError, match="is missing or has changed since it was written"):
        restore(str(target), str(tmp_path / "no.db"), RestoreOptions(engine="spark"))
    assert not (tmp_path / "no.db").exists()
