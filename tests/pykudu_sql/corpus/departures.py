"""Where this database departs from SQLite's corpus, each departure with its reason.

A departure names statements of the corpus by a pattern, the error they must meet here, and, where
later records need it, what is run instead. A statement that no longer meets its error is reported,
so the list cannot grow stale. docs/conformance.md tells the same to people.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pykudu_sql.shell.slt.records import Failure, QueryRecord, Record, StatementRecord, Success


@dataclass(frozen=True, slots=True)
class Departure:
    """Statements of the corpus that are refused here.

    Attributes:
        title: as docs/conformance.md names it.
        statements: a regular expression found in their text.
        error: a regular expression found in the message they get.
        instead: what replaces the match of `statements`, or None when nothing is run instead.
    """

    title: str
    statements: re.Pattern[str]
    error: str
    instead: str | None


DEPARTURES = (
    Departure(
        "CREATE UNIQUE INDEX",
        re.compile(r"^CREATE UNIQUE INDEX", re.IGNORECASE),
        "unique indexes are not supported",
        "CREATE INDEX",
    ),
    Departure(
        "UNIQUE columns",
        re.compile(r"(?:,? UNIQUE)(?: \(a\(1\)\))?(?=\)$)"),
        "UNIQUE constraints are not supported",
        "",
    ),
    Departure(
        "Triggers",
        re.compile(r"^(?:CREATE|DROP) TRIGGER[\s\S]*", re.IGNORECASE),
        "(?i)trigger",
        None,
    ),
    Departure(
        "A column assigned twice",
        re.compile(r"SET x=3, x=4, x=5"),
        "assigned twice",
        "SET x=5",
    ),
    Departure(
        "BINARY compared with a number",
        re.compile(r"^SELECT x'303132' (?:NOT )?IN \(SELECT \* FROM t1\)"),
        "(?i)cannot compare|type",
        None,
    ),
)


def depart(records: Iterable[Record]) -> Iterator[Record]:
    """The records of a script with every departure written into them.

    A statement that departs is expected to fail as its departure says, and is followed by what is
    run instead, which is expected to do what the script says.
    """
    for record in records:
        if not isinstance(record, StatementRecord | QueryRecord) or _fails(record):
            yield record
            continue
        departure = _departure(record.sql)
        if departure is None:
            yield record
            continue
        yield StatementRecord(record.source, record.sql, Failure("", departure.error))
        if departure.instead is not None:
            sql = departure.statements.sub(departure.instead, record.sql)
            yield replace(record, sql=sql)


def _fails(record: StatementRecord | QueryRecord) -> bool:
    """Whether the script expects an error anyway."""
    return isinstance(record, StatementRecord) and not isinstance(record.expected, Success)


def _departure(sql: str) -> Departure | None:
    found = (one for one in DEPARTURES if one.statements.search(sql))
    return next(found, None)
