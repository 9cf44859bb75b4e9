"""A stream driven as Spark drives it, but without Spark, against what each statement did.

Statements change rows, columns and files in a random order, with snapshots that are restored; the
stream is asked in between, for few rows or all, started again from its last offset, and made to run
its last batch again.
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
from pykudu_sql.storage.errors import UndefinedColumnError

Row = Mapping[str, Any]
Change = tuple[str, int, str]
STEPS = 40
KEYS = 60


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
    """Random statements over table t, whose columns beside `id` and `v` come and go."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._number = 0
        self._columns = ["n"]
        self._snapshots: list[int] = []

    def next(self) -> str:
        rng, number = self._rng, self._next()
        some = ", ".join(f"({key}, '{number}')" for key in rng.sample(range(KEYS), 4))
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

    def _snapshot(self) -> str:
        self._snapshots.append(self._next())
        return f"CREATE SNAPSHOT s{self._number}"

    def _restore(self) -> str:
        if not self._snapshots:
            return self._snapshot()
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


@pytest.mark.parametrize("seed", [1, 2])
def test_a_stream_gives_exactly_what_random_statements_did(path: str, seed: int) -> None:
    rng = random.Random(seed)
    statements = Statements(rng)
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE t (id INT PRIMARY KEY, v STRING, n INT DEFAULT 1) "
            "PARTITION BY HASH (id) PARTITIONS 2"
        )
        conn.execute("INSERT INTO t (id, v) VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        rows = {1: "a", 2: "b", 3: "c"}
        expected = _changes({}, rows)
        consumer = Consumer(path)
        for step in rng.choices(["statement", "poll", "restart", "again"], [6, 3, 1, 1], k=STEPS):
            if step == "statement":
                conn.execute(statements.next())
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
