"""Qualifiers in every place of a statement: right ones work, wrong ones are refused.

Databases `one` and `two` have a table `t` each, with other rows; `two.t` is what a wrong qualifier
could be mistaken for. A statement is run with each qualifier and rolled back. One with a right
qualifier answers and changes what it does without, one with a wrong qualifier is refused with
42P01 or 42703 and changes nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import pykudu_sql
from tests.pykudu_sql.qualifiers.places import ASSIGNING, INSERTING, READING, WRITING

_SETUP = (
    "CREATE DATABASE one",
    "CREATE DATABASE two",
    "CREATE TABLE one.t (a INT PRIMARY KEY, b INT)",
    "CREATE TABLE two.t (a INT PRIMARY KEY, b INT)",
    "CREATE TABLE default.t (a INT PRIMARY KEY, b INT)",
    "CREATE TABLE two.other (k INT PRIMARY KEY, b INT)",
    "CREATE TABLE sink (k INT PRIMARY KEY, v INT)",
    "CREATE VIEW one.seen AS SELECT a, b FROM t",
    "INSERT INTO one.t VALUES (1, 1), (2, 2), (3, NULL)",
    "INSERT INTO two.t VALUES (2, 20), (5, 50)",
    "INSERT INTO default.t VALUES (3, 30), (6, 60)",
    "INSERT INTO two.other VALUES (1, 1), (2, 2), (7, 7)",
    "INSERT INTO sink VALUES (1, 1), (2, 2)",
)
_TABLES = ("one.t", "two.t", "default.t", "sink")
_REFUSED = ("42P01", "42703")
_WRONG = ("nosuch.t", "nosuch", "nosuch.one.t", "one.nosuch", "two.other", "sink.t", "t.t")


@dataclass(frozen=True, slots=True)
class Mention:
    """A table in a FROM clause.

    Attributes:
        text: how it is mentioned.
        right, wrong: qualifiers of its columns, and those that are none.
        session: the database of the session.
    """

    text: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    session: str = "default"


_PLAIN = Mention("one.t", ("one.t", "t", "ONE.T"), ("two.t", "default.t"))
_DEFAULT = Mention("default.t", ("default.t", "t"), ("one.t", "two.t"))
_WRITTEN = (
    _PLAIN,
    _DEFAULT,
    Mention("t", ("one.t", "t"), ("two.t", "default.t"), "one"),
    Mention("t", ("default.t", "t"), ("one.t", "two.t")),
    Mention("one.t AS y", ("y", "Y"), ("one.t", "t", "one.y", "two.t")),
    Mention("one.t AS t", ("t",), ("one.t", "two.t", "default.t")),
    Mention('one.t AS "select"', ('"select"',), ("one.t", "t", 'one."select"')),
)
_READ = (
    *_WRITTEN,
    Mention("one.t FOR SYSTEM_TIME AS OF {now}", ("one.t", "t"), ("two.t", "default.t")),
    Mention("one.t FOR SYSTEM_TIME AS OF {now} AS y", ("y",), ("one.t", "t", "one.y")),
    Mention("one.seen", ("one.seen", "seen"), ("two.seen", "one.t", "t")),
    Mention("one.seen AS t", ("t",), ("one.t", "seen", "one.seen")),
    Mention("(SELECT a, b FROM one.t) AS t", ("t",), ("one.t", "two.t", "default.t")),
    Mention("(SELECT * FROM two.t) AS y", ("y",), ("two.t", "t", "default.y")),
    Mention("(VALUES (1, 2), (3, 4)) AS y(a, b)", ("y",), ("one.y", "t", "default.y")),
    Mention("one.t AS y(a, b)", ("y",), ("one.t", "t", "one.y")),
    Mention("CHANGES(one.t, {begun}) AS y", ("y",), ("one.t", "t", "changes", "one.y")),
)
_OTHER = "two.other AS z"


@dataclass
class Report:
    """What was tried.

    Attributes:
        accepted: with right qualifiers.
        refused: with wrong ones.
        failures: what to look at.
    """

    accepted: int = 0
    refused: int = 0
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A statement with a qualifier, and the same as it means if the qualifier is right."""

    text: str
    plain: str | None
    session: str


Answer = tuple[object, ...] | str


class Databases:
    """A database with its tables, in which every statement is rolled back."""

    def __init__(self) -> None:
        self._connection = pykudu_sql.connect(":memory:", autocommit=True)
        self.begun = self._connection.snapshot_timestamp()
        for text in _SETUP:
            self._connection.execute(text)
        self.now = self._connection.snapshot_timestamp()

    def close(self) -> None:
        """Give it up."""
        self._connection.close()

    def answer(self, attempt: Attempt, text: str) -> Answer:
        """What a statement gives and leaves, or its SQLSTATE."""
        run = self._connection.execute
        run(f"USE {attempt.session}")
        defines = text.startswith("CREATE")
        if not defines:
            run("BEGIN")
        try:
            cursor = run(text)
            rows = sorted(cursor.fetchall(), key=repr) if cursor.description else []
            if defines:
                kind = text.split()[1]
                rows = sorted(run("SELECT * FROM made").fetchall(), key=repr)
                run(f"DROP {kind} made")
            left = [sorted(run(f"SELECT * FROM {name}").fetchall()) for name in self._tables()]
            return (cursor.rowcount, rows, left)
        except pykudu_sql.Error as error:
            return f"{error.sqlstate} {error.message.splitlines()[0]}"
        finally:
            if not defines:
                run("ROLLBACK")
            run("USE default")

    def _tables(self) -> Sequence[str]:
        return [name if "." in name else f"default.{name}" for name in _TABLES]


def attempts(begun: int, now: int) -> Iterator[Attempt]:
    """All of them."""
    for places, mentions in ((READING, _READ), (WRITING, _WRITTEN), (INSERTING, _WRITTEN)):
        for place in places:
            for mention in mentions:
                yield from _attempts(place, mention, begun, now)
    for place in ASSIGNING:
        for mention in _WRITTEN:
            yield from _attempts(place, mention, begun, now)


def _attempts(place: str, mention: Mention, begun: int, now: int) -> Iterator[Attempt]:
    table = mention.text.format(begun=begun, now=now)
    sink = place.replace(" sink ", " default.sink ").replace("INTO sink", "INTO default.sink")

    def spelled(qualifier: str) -> str:
        names = {"name": f"{qualifier}a", "b": f"{qualifier}b"}
        return sink.format(t=table, u=_OTHER, **names)

    # The name alone is compared with the first right qualifier, and that one with the others.
    plain = spelled(f"{mention.right[0]}.")
    if "{name}" in place:
        bare = sink.format(t=table, u=_OTHER, name="a", b="b")
        yield Attempt(plain, bare, mention.session)
    for qualifier in mention.right[1:]:
        yield Attempt(spelled(f"{qualifier}."), plain, mention.session)
    for qualifier in (*mention.wrong, *_WRONG):
        if qualifier.lower() not in mention.right:
            yield Attempt(spelled(f"{qualifier}."), None, mention.session)


def try_all(random: Random, count: int) -> Report:
    """Try so many of them."""
    report, databases = Report(), Databases()
    try:
        listed = list(attempts(databases.begun, databases.now))
        for attempt in random.sample(listed, min(count, len(listed))):
            _judge(databases, attempt, report)
    finally:
        databases.close()
    return report


def _judge(databases: Databases, attempt: Attempt, report: Report) -> None:
    found = databases.answer(attempt, attempt.text)
    if attempt.plain is None:
        report.refused += 1
        if not isinstance(found, str) or not found.startswith(_REFUSED):
            report.failures.append(f"wrong, but {found}: {attempt.text} in {attempt.session}")
        return
    report.accepted += 1
    expected = databases.answer(attempt, attempt.plain)
    if isinstance(found, str) or found != expected:
        report.failures.append(
            f"right, but {found} and not {expected}: {attempt.text} in {attempt.session}"
        )
