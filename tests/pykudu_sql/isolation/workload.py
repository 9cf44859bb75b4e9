"""Threads that read and append at random, and the history of what they did.

Keys belong to groups, so that a scan of a group reads its keys together. Lists are strings of
elements behind commas. Sessions read by key, by scan and in key order, roll back, set savepoints
and go back to them, while another flushes and compacts under them.
"""

import itertools
import random
import threading
from collections.abc import Callable

import pykudu_sql
from pykudu_sql import Connection
from tests.pykudu_sql.isolation.history import Append, Element, Fate, Key, Read, Record

GROUPS = 3
KEYS = 4
_ALL = range(GROUPS * KEYS)
_IN_GROUP = "SELECT id, list FROM lists WHERE grp = ?"
_READS = (_IN_GROUP, _IN_GROUP + " ORDER BY id", _IN_GROUP + " AND list <> '' ORDER BY id LIMIT 99")


def create(connection: Connection) -> None:
    """Make the table."""
    connection.execute(
        "CREATE TABLE lists (id INT, grp INT, list STRING, PRIMARY KEY (id)) "
        "PARTITION BY HASH (id) PARTITIONS 3"
    )


def run(connect: Callable[[], Connection], threads: int, rounds: int, seed: int) -> list[Record]:
    """Let threads work on the table side by side; their history, ended by a read of everything."""
    elements = itertools.count(1)
    history: list[Record] = []
    failures: list[BaseException] = []
    stop = threading.Event()

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    def work(number: int) -> None:
        with connect() as connection:
            worker = Worker(connection, random.Random(seed + number), elements, history)
            for turn in range(rounds):
                worker.transaction(f"{number}.{turn}")

    def maintain() -> None:
        with connect() as connection:
            while not stop.wait(0.01):
                connection.execute("FLUSH lists")
                connection.execute("OPTIMIZE TABLE lists FULL")

    workers = [
        threading.Thread(target=guarded, args=(lambda n=n: work(n),)) for n in range(threads)
    ]
    maintenance = threading.Thread(target=guarded, args=(maintain,))
    for thread in (*workers, maintenance):
        thread.start()
    for thread in workers:
        thread.join()
    stop.set()
    maintenance.join()
    if failures:
        raise failures[0]
    with connect() as connection:
        found = dict(connection.execute("SELECT id, list FROM lists").fetchall())
    history.append(Record("end", tuple(Read(key, elements_of(found.get(key))) for key in _ALL)))
    return history


def elements_of(text: str | None) -> tuple[Element, ...]:
    """The elements of a list; a missing one has none."""
    return tuple(map(int, text.split(",")[1:])) if text else ()


class Worker:
    """Runs transactions in one session and records them."""

    def __init__(
        self,
        connection: Connection,
        rng: random.Random,
        elements: "itertools.count[int]",
        history: list[Record],
    ) -> None:
        """Record into `history`, which other workers share."""
        self._connection = connection
        self._rng = rng
        self._elements = elements
        self._history = history
        self._events: list[Append | Read] = []

    def transaction(self, name: str) -> None:
        """One transaction of a few steps."""
        self._connection.execute("BEGIN")
        self._events = []
        for _ in range(self._rng.randint(1, 4)):
            self._step(name)
        fate = Fate.ABORTED if self._rng.random() < 0.15 else Fate.COMMITTED
        if fate is Fate.ABORTED:
            self._connection.execute("ROLLBACK")
        else:
            try:
                self._connection.execute("COMMIT")
            except pykudu_sql.SerializationError:
                fate = Fate.ABORTED
        self._history.append(Record(name, tuple(self._events), fate))

    def _step(self, name: str) -> None:
        chance = self._rng.random()
        if chance < 0.3:
            self._read_group()
        elif chance < 0.5:
            self._read_key(self._rng.choice(_ALL))
        elif chance < 0.9:
            self._append(self._rng.choice(_ALL))
        else:
            self._take_back(name)

    def _read_group(self) -> None:
        group = self._rng.randrange(GROUPS)
        found = dict(self._connection.execute(self._rng.choice(_READS), (group,)).fetchall())
        keys = (key for key in _ALL if key % GROUPS == group)
        self._events += [Read(key, elements_of(found.get(key))) for key in keys]

    def _read_key(self, key: Key) -> None:
        row = self._connection.execute("SELECT list FROM lists WHERE id = ?", (key,)).fetchone()
        self._events.append(Read(key, elements_of(None if row is None else row[0])))

    def _append(self, key: Key) -> None:
        """Append by an UPDATE that the engine computes; a key that is not there is inserted."""
        element = next(self._elements)
        text = f",{element}"
        sql = "UPDATE lists SET list = list || ? WHERE id = ? AND grp >= 0"
        if not self._connection.execute(sql, (text, key)).rowcount:
            insert = "INSERT INTO lists VALUES (?, ?, ?)"
            self._connection.execute(insert, (key, key % GROUPS, text))
        self._events.append(Append(key, element))

    def _take_back(self, name: str) -> None:
        """Append behind a savepoint, and go back: the appends are an aborted transaction's."""
        kept = self._events
        self._connection.execute("SAVEPOINT s")
        self._events = []
        self._append(self._rng.choice(_ALL))
        self._append(self._rng.choice(_ALL))
        self._connection.execute("ROLLBACK TO s")
        appends = tuple(self._events)
        self._history.append(Record(f"{name} taken back {appends}", appends, Fate.ABORTED))
        self._events = kept
