"""Eight threads move money between accounts until the process is killed, as a program of its own.

Usage: python -m tests.pykudu_sql.isolation.bank PATH SEED; prints a line for every fifth commit.
"""

import random
import sys
import threading

import pykudu_sql

ACCOUNTS = 20
BALANCE = 100
THREADS = 8
_MOVE = "UPDATE account SET balance = balance + ? WHERE id = ?"


def create(path: str) -> None:
    """Make the accounts; some lie in files, some in memory."""
    with pykudu_sql.connect(path, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE account (id INT PRIMARY KEY, balance INT) "
            "PARTITION BY HASH (id) PARTITIONS 3"
        )
        for number in range(ACCOUNTS):
            connection.execute("INSERT INTO account VALUES (?, ?)", (number, BALANCE))
            if number == ACCOUNTS // 2:
                connection.execute("FLUSH")


def transfer(path: str, rng: random.Random) -> None:
    """Move money for ever; a transaction that came second is forgotten."""
    with pykudu_sql.connect(path, autocommit=True) as connection:
        committed = 0
        while True:
            source, target = rng.sample(range(ACCOUNTS), 2)
            amount = rng.randint(1, 10)
            connection.execute("BEGIN")
            try:
                total = connection.execute("SELECT sum(balance) FROM account").fetchone()
                assert total == (ACCOUNTS * BALANCE,), f"a transaction sees {total}"
                connection.execute(_MOVE, (-amount, source))
                connection.execute("SAVEPOINT moved")
                connection.execute(_MOVE, (amount, source))
                connection.execute("ROLLBACK TO moved")
                connection.execute(_MOVE, (amount, target))
                connection.execute("COMMIT")
            except pykudu_sql.SerializationError:
                continue
            committed += 1
            if committed % 5 == 1:
                print(committed, flush=True)


def main(path: str, seed: int) -> None:
    """Run all threads; the first that fails ends the program."""
    failed = threading.Event()

    def guarded(rng: random.Random) -> None:
        try:
            transfer(path, rng)
        finally:
            failed.set()

    for number in range(THREADS):
        rng = random.Random(seed * THREADS + number)
        threading.Thread(target=guarded, args=(rng,), daemon=True).start()
    with pykudu_sql.connect(path, autocommit=True) as connection:
        while not failed.wait(0.1):
            connection.execute("FLUSH")
            connection.execute("OPTIMIZE TABLE account FULL")
    sys.exit("a thread failed")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
