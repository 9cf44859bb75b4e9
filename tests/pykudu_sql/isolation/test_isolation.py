"""Threads try the anomalies that snapshot isolation excludes, and none occurs."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql import Connection
from tests.pykudu_sql.isolation import bank, workload
from tests.pykudu_sql.isolation.checker import anomalies
from tests.pykudu_sql.isolation.history import Fate


@pytest.mark.parametrize("seed", [1, 2])
def test_random_transactions_of_six_threads_show_no_anomaly(tmp_path: Path, seed: int) -> None:
    def connect() -> Connection:
        return pykudu_sql.connect(tmp_path / "db", autocommit=True, durability="off")

    with connect() as connection:
        workload.create(connection)
        history = workload.run(connect, threads=6, rounds=20, seed=1000 * seed)
    committed = [record for record in history if record.fate is Fate.COMMITTED]
    assert len(committed) > 20
    assert anomalies(history) == []


def test_write_skew_is_the_one_anomaly_that_two_transactions_can_make(tmp_path: Path) -> None:
    with pykudu_sql.connect(tmp_path / "db") as first, pykudu_sql.connect(tmp_path / "db") as other:
        first.execute("CREATE TABLE on_call (name STRING PRIMARY KEY, here BOOLEAN)")
        first.execute("INSERT INTO on_call VALUES ('ann', true), ('bob', true)")
        first.commit()
        for connection, name in ((first, "ann"), (other, "bob")):
            query = "SELECT count(*) FROM on_call WHERE here"
            assert connection.execute(query).fetchone() == (2,)
            connection.execute("UPDATE on_call SET here = false WHERE name = ?", (name,))
        first.commit()
        other.commit()
        assert first.execute("SELECT count(*) FROM on_call WHERE here").fetchone() == (0,)


def test_no_money_is_lost_when_the_bank_is_killed(tmp_path: Path) -> None:
    path = str(tmp_path / "db")
    bank.create(path)
    for seed in range(2):
        command = [sys.executable, "-m", bank.__name__, path, str(seed)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stderr is not None
            for _ in range(3 + 2 * seed):
                if not process.stdout.readline():
                    raise AssertionError(process.stderr.read().decode())
            process.kill()
        with pykudu_sql.connect(path, autocommit=True) as connection:
            found = connection.execute("SELECT count(*), sum(balance) FROM account").fetchone()
            assert found == (bank.ACCOUNTS, bank.ACCOUNTS * bank.BALANCE)


@pytest.mark.parametrize("threads", [8, 16])
def test_no_statement_fails_when_many_threads_change_one_row(tmp_path: Path, threads: int) -> None:
    def connect() -> Connection:
        return pykudu_sql.connect(tmp_path / "db", autocommit=True, durability="off")

    def count(_: int) -> None:
        with connect() as connection:
            for _ in range(20):
                connection.execute("UPDATE counter SET n = n + 1 WHERE id = 1")

    with connect() as connection:
        connection.execute("CREATE TABLE counter (id INT PRIMARY KEY, n INT)")
        connection.execute("INSERT INTO counter VALUES (1, 0)")
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(count, range(threads)))
        assert connection.execute("SELECT n FROM counter").fetchone() == (20 * threads,)
