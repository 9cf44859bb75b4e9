"""A stream of changes, killed and started again while transactions go on: every change comes once.

    python -m tests.spark.stream_kills --transactions 1000 --kills 10 [--seed 1]

The feed lands in Parquet files. In the end it is compared with `CHANGES` of the table, change by
change; applied to nothing, it gives the table.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import pykudu_sql
from tests.spark.victims import victim

_KEYS = 200
_EMPTY = pa.table(
    {
        "id": pa.array([], pa.int64()),
        "v": pa.array([], pa.int64()),
        "_change_type": pa.array([], pa.string()),
        "_commit_timestamp": pa.array([], pa.decimal128(20, 0)),
    }
)


def campaign(folder: Path, transactions: int, kills: int, seed: int) -> int:
    """Follow a table through kills; the number of changes that came.

    Args:
        folder: for database, feed and checkpoint.
        transactions: that are committed meanwhile.
        kills: of the stream's driver.
        seed: of what is changed, and of when is killed.

    Raises:
        AssertionError: a change is missing, or came twice.
    """
    path, rng = str(folder / "my.db"), random.Random(seed)
    with pykudu_sql.connect(path, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT) PARTITION BY HASH (id) PARTITIONS 2"
        )
        since = str(conn.snapshot_timestamp())
    pause = threading.Event()
    writer = threading.Thread(target=_write, args=(path, transactions, seed, pause))
    for number in range(kills + 1):
        with victim("stream", path, str(folder), since) as driver:
            driver.said()
            if number == 0:
                writer.start()
            if number < kills:
                time.sleep(rng.uniform(1.0, 6.0))
            else:
                writer.join()
                _wait_for_end(path, folder, since)
    return _compare(path, folder, since)


def _write(path: str, transactions: int, seed: int, pause: threading.Event) -> None:
    """Commit transactions of a few operations each, and flush now and then."""
    rng = random.Random(seed)
    with pykudu_sql.connect(path) as conn:
        for number in range(transactions):
            for _ in range(rng.randint(1, 4)):
                key = rng.randrange(_KEYS)
                if rng.random() < 0.3:
                    conn.execute("DELETE FROM t WHERE id = ?", [key])
                else:
                    conn.execute("UPSERT INTO t VALUES (?, ?)", [key, number])
            conn.commit()
            if number % 97 == 96:
                conn.execute("FLUSH TABLE t")
            pause.wait(0.02)


def _wait_for_end(path: str, folder: Path, since: str) -> None:
    """Wait until as many changes came as there are, or nothing comes any more."""
    wanted, quiet, before = len(_expected(path, since)), 0, -1
    while quiet < 60:
        found = _feed(folder).num_rows
        if found >= wanted:
            return
        quiet = 0 if found != before else quiet + 1
        before = found
        time.sleep(1.0)


def _expected(path: str, since: str) -> list[tuple[object, ...]]:
    with pykudu_sql.connect(path, read_only=True) as conn:
        changes = f"SELECT id, v, _change_type FROM CHANGES(t, {since})"
        return [tuple(row) for row in conn.execute(changes).fetchall()]


def _feed(folder: Path) -> pa.Table:
    """The rows of the files that the sink's own log names; others were never committed."""
    files: set[str] = set()
    for log in (folder / "feed" / "_spark_metadata").glob("[0-9]*"):
        lines = log.read_text().splitlines()[1:]
        files |= {json.loads(line)["path"].removeprefix("file://") for line in lines}
    tables = [pq.ParquetFile(file).read() for file in sorted(files)]
    return pa.concat_tables([_EMPTY, *tables], promote_options="permissive")


def _compare(path: str, folder: Path, since: str) -> int:
    feed = _feed(folder).sort_by("_commit_timestamp").to_pylist()
    came = Counter((row["id"], row["v"], row["_change_type"]) for row in feed)
    wanted = Counter(_expected(path, since))
    assert came == wanted, f"missing {wanted - came}, too many {came - wanted}"
    table: dict[int, int] = {}
    for row in feed:
        if row["_change_type"] == "delete":
            del table[row["id"]]
        elif row["_change_type"] != "update_preimage":
            table[row["id"]] = row["v"]
    with pykudu_sql.connect(path, read_only=True) as conn:
        assert sorted(table.items()) == [
            tuple(row) for row in conn.execute("SELECT id, v FROM t ORDER BY id").fetchall()
        ]
    return len(feed)


def main(argv: list[str]) -> int:
    """Run the script; 0 when every change came once."""
    parser = argparse.ArgumentParser(prog="python -m tests.spark.stream_kills")
    parser.add_argument("--transactions", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        count = campaign(Path(folder), options.transactions, options.kills, options.seed)
        print(f"{options.transactions} transactions, {options.kills} kills: {count} changes, once")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
