"""A stream driven as Spark drives it, but without Spark, against what each statement did.

Statements change rows, columns, range partitions and files in a random order, with snapshots that
are restored and tables that are dropped and brought back; the stream is asked in between, often or
seldom, for few rows or all, started again from its last offset, and made to run its last batch
again. In the end the changes between two moments, read at once, are the same.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows

import pykudu_sql
from pykudu_sql.spark.changes.stream_reader import PykuduStreamReader
from pykudu_sql.spark.data_source import PykuduDataSource
from pykudu_sql.storage.common.types import hybrid_time
from pykudu_sql.storage.errors import HistoryPurgedError, UndefinedColumnError, UndefinedTableError

Row = Mapping[str, Any]
Change = tuple[str, int, str]
STEPS = 60
KEYS = 60
RANGES = ("VALUES < 20", "20 <= VALUES < 40", "40 <= VALUES")


class Consumer:
    """A query with a checkpoint. `given`: changes so far."""

    def __init__(self, path: str) -> None:
        self._options = {"path": path, "table": "t", "readchangefeed": "true"}
        self._reader = self._start()
        self._offset = self._reader.initialOffset()
        self._last: tuple[Mapping[str, Any], list[Row]] | None = None
        self.given: Counter[Change] = Counter()

    def _start(self) -> PykuduStreamReader:
        source = PykuduDataSource(dict(self._options))
        return source.streamReader(source.schema())

    def restart(self) -> None:
        self.stop()
        self._reader = self._start()

    def stop(self) -> None:
        self._reader.stop()

    def poll(self, limit: ReadLimit) -> int:
        """Take the next batch, after a restart if the table lost a column of the stream."""
        end = self._reader.latestOffset(self._offset, limit)
        if end == self._offset:
            return 0
        try:
            rows = self._rows(self._offset, end)
        except UndefinedColumnError:
            self.restart()
            rows = self._rows(self._offset, end)
        self.given.update((row["_change_type"], row["id"], row["v"]) for row in rows)
        self._last, self._offset = (self._offset, rows), end
        return len(rows)

    def run_again(self) -> None:
        """Run the last batch again, as after a kill before it was noted."""
        self.restart()
        if self._last is not None:
            begin, rows = self._last
            assert _identities(self._rows(begin, self._offset)) == _identities(rows)

    def _rows(self, begin: Mapping[str, Any], end: Mapping[str, Any]) -> list[Row]:
        partitions = self._reader.partitions(begin, end)
        batches = [batch for one in partitions for batch in self._reader.read(one)]
        return [row for batch in batches for row in batch.to_pylist()]


def _identities(rows: list[Row]) -> list[tuple[str, int, str, int]]:
    return sorted(
        (row["_change_type"], row["id"], row["v"], row["_commit_timestamp"]) for row in rows
    )


class Statements:
    """Random statements over table t, whose ranges and columns come and go, but `id` and `v`."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._number = 0
        self._columns = ["n"]
        self._snapshots: list[int] = []
        self._dropped: list[int] = []

    def next(self) -> str:
        rng, number = self._rng, self._next()
        keys = [key for key in range(KEYS) if key // 20 not in self._dropped]
        some = ", ".join(f"({key}, '{number}')" for key in rng.sample(keys, 4))
        kinds: list[Callable[[], str]] = [
            lambda: (
                f"INSERT INTO t (id, v) SELECT * FROM (VALUES {some}) s(a, b) "
                "WHERE a NOT IN (SELECT id FROM t)"
            ),
            lambda: f"UPSERT INTO t (id, v) VALUES {some}",
            lambda: f"UPDATE t SET v = '{number}' WHERE id % {rng.randint(2, 9)} = 1",
            lambda: f"DELETE FROM t WHERE id % {rng.randint(3, 9)} = 2",
            lambda: (
                f"MERGE INTO t USING (VALUES {some}) s(a, b) ON t.id = s.a WHEN MATCHED THEN "
                "UPDATE SET v = s.b WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.a, s.b)"
            ),
            lambda: "FLUSH TABLE t",
            lambda: "OPTIMIZE TABLE t FULL",
            lambda: "TRUNCATE TABLE t",
            lambda: "DROP TABLE t; UNDROP TABLE t",
            self._drop_range,
            self._drop_range,
            self._add_range,
            self._renew_range,
            self._add,
            self._rename,
            self._drop,
            self._snapshot,
            self._restore,
        ]
        return rng.choice(kinds)()

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _add(self) -> str:
        self._columns.append(f"x{self._next()}")
        return f"ALTER TABLE t ADD COLUMN {self._columns[-1]} INT DEFAULT {self._number}"

    def _rename(self) -> str:
        if not self._columns:
            return self._add()
        old, new = self._columns.pop(0), f"y{self._next()}"
        self._columns.append(new)
        return f"ALTER TABLE t CHANGE COLUMN {old} {new} INT"

    def _drop(self) -> str:
        if not self._columns:
            return self._add()
        self._snapshots.clear()  # a table is not restored to a moment with a column dropped since
        return f"ALTER TABLE t DROP COLUMN {self._columns.pop()}"

    def _drop_range(self) -> str:
        if len(self._dropped) > 1:
            return self._add_range()
        there = [one for one in range(len(RANGES)) if one not in self._dropped]
        self._dropped.append(self._rng.choice(there))
        return f"ALTER TABLE t DROP RANGE PARTITION {RANGES[self._dropped[-1]]}"

    def _add_range(self) -> str:
        if not self._dropped:
            return self._drop_range()
        return f"ALTER TABLE t ADD RANGE PARTITION {RANGES[self._dropped.pop(0)]}"

    def _renew_range(self) -> str:
        there = [one for one in range(len(RANGES)) if one not in self._dropped]
        name = RANGES[self._rng.choice(there)]
        return f"ALTER TABLE t DROP RANGE PARTITION {name}, ADD RANGE PARTITION {name}"

    def _snapshot(self) -> str:
        self._snapshots.append(self._next())
        return f"CREATE SNAPSHOT s{self._number}"

    def _restore(self) -> str:
        if not self._snapshots:
            return self._snapshot()
        if self._dropped:  # rows of the snapshot would have no place
            return self._add_range()
        return f"RESTORE TABLE t TO SNAPSHOT s{self._rng.choice(self._snapshots)}"


def _changes(before: Mapping[int, str], after: Mapping[int, str]) -> Counter[Change]:
    """What a statement did, by the rows before and after it."""
    changes: Counter[Change] = Counter()
    for key in before.keys() | after.keys():
        if key not in before:
            changes["insert", key, after[key]] += 1
        elif key not in after:
            changes["delete", key, before[key]] += 1
        elif before[key] != after[key]:
            changes["update_preimage", key, before[key]] += 1
            changes["update_postimage", key, after[key]] += 1
    return changes


@pytest.mark.parametrize(("seed", "polls"), [(1, 30), (2, 30), (3, 5), (4, 1)])
def test_a_stream_gives_exactly_what_random_statements_did(
    path: str, seed: int, polls: int
) -> None:
    rng = random.Random(seed)
    statements = Statements(rng)
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE t (id INT PRIMARY KEY, v STRING, n INT DEFAULT 1) "
            "PARTITION BY HASH (id) PARTITIONS 2, "
            f"RANGE (id) ({', '.join(f'PARTITION {one}' for one in RANGES)})"
        )
        since = conn.snapshot_timestamp()
        conn.execute("INSERT INTO t (id, v) VALUES (1, 'a'), (2, 'b'), (23, 'c')")
        rows = {1: "a", 2: "b", 23: "c"}
        expected = _changes({}, rows)
        consumer = Consumer(path)
        kinds = ["statement", "poll", "restart", "again"]
        for step in rng.choices(kinds, [60, polls, 10, 10], k=STEPS):
            if step == "statement":
                for statement in statements.next().split("; "):
                    conn.execute(statement)
                after = dict(conn.execute("SELECT id, v FROM t").fetchall())
                expected += _changes(rows, after)
                rows = after
            elif step == "poll":
                consumer.poll(rng.choice([ReadAllAvailable(), ReadMaxRows(rng.randint(1, 9))]))
            elif step == "restart":
                consumer.restart()
            else:
                consumer.run_again()
        consumer.restart()
        while consumer.poll(ReadAllAvailable()):
            pass
        consumer.stop()
        assert consumer.given == expected
        between = f"SELECT _change_type, id, v FROM CHANGES(t, {since})"
        assert Counter(conn.execute(between).fetchall()) == expected
        living = "SELECT id, v FROM t FOR SYSTEM_TIME ALL WHERE _valid_to IS NULL"
        assert dict(conn.execute(living).fetchall()) == rows


@pytest.fixture
def ranged(path: str) -> str:
    """A table of two ranges, with a row in each."""
    run(
        path,
        "CREATE TABLE t (id INT PRIMARY KEY, v STRING) "
        "PARTITION BY RANGE (id) (PARTITION VALUES < 20, PARTITION 20 <= VALUES)",
        "INSERT INTO t VALUES (1, 'a'), (21, 'b')",
    )
    return path


def run(path: str, *statements: str) -> None:
    with pykudu_sql.connect(path, autocommit=True) as conn:
        for statement in statements:
            conn.execute(statement)


def test_a_drop_that_history_has_left_behind_is_an_error_though_nothing_else_changed(
    ranged: str,
) -> None:
    consumer = Consumer(ranged)
    consumer.poll(ReadAllAvailable())
    run(ranged, "INSERT INTO t VALUES (2, 'c')", "ALTER TABLE t DROP RANGE PARTITION VALUES < 20")
    run(ranged, "SET DATABASE history_max_age = 0", "VACUUM")
    with pytest.raises(HistoryPurgedError) as caught:
        consumer.poll(ReadAllAvailable())
    assert caught.value.sqlstate == "72000"
    consumer.stop()


def test_a_stream_stops_at_a_dropped_table_and_goes_on_when_it_is_back(ranged: str) -> None:
    consumer = Consumer(ranged)
    consumer.poll(ReadAllAvailable())
    run(ranged, "DELETE FROM t WHERE id = 1", "DROP TABLE t")
    with pytest.raises(UndefinedTableError, match="was dropped"):
        consumer.poll(ReadAllAvailable())
    run(ranged, "UNDROP TABLE t", "ALTER TABLE t DROP RANGE PARTITION 20 <= VALUES")
    assert consumer.poll(ReadAllAvailable()) == 2
    consumer.stop()
    assert consumer.given["delete", 1, "a"] == consumer.given["delete", 21, "b"] == 1


def test_the_offset_of_a_table_that_rests_stays_within_its_history(
    ranged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    present = hybrid_time.wall_micros()
    consumer = Consumer(ranged)
    consumer.poll(ReadAllAvailable())
    run(ranged, "CREATE TABLE u (id INT PRIMARY KEY)")
    for day in range(1, 20):
        later = present + day * 24 * 3600 * 1_000_000
        monkeypatch.setattr(hybrid_time, "wall_micros", lambda later=later: later)
        run(ranged, f"INSERT INTO u VALUES ({day})", "VACUUM")
        consumer.restart()
        assert consumer.poll(ReadAllAvailable()) == 0
    run(ranged, "UPDATE t SET v = 'z' WHERE id = 1")
    assert consumer.poll(ReadAllAvailable()) == 2
    consumer.stop()
