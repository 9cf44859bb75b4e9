"""What must not happen when a statement runs, whatever it is.

Nothing but `pykudu_sql.Error` comes out, none says XX000, and no message holds a name of the
inside: of a scan, a parameter by number, a library, a class of Python, a type that our SQL lacks.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

from sqlglot import exp

from pykudu_sql import Connection, Error
from tests.pykudu_sql.mutations.corpus import connect, scripts, world
from tests.pykudu_sql.mutations.mutating import mutated, tokens_of

# Classes of the parser with names that are no words of SQL: ArrayConcatAgg, but not Select.
_NODES = "|".join(
    name
    for name, kind in vars(exp).items()
    if isinstance(kind, type) and issubclass(kind, exp.Expr) and re.search("[a-z][A-Z]", name)
)
_INSIDE = re.compile(
    r"__\w+|\bpykudu_\w+|\$\d+|\bview_query\b|subquery \d|sqlglot|duckdb|pyarrow|numpy|arrow_scan"
    r"|\bmain\.|\bmemory\.|\bexp\.|object at 0x|<class|NoneType|[A-Z][a-z]+ Error:"
    rf"|\b(?:Binder|Catalog|Parser|Conversion) Error\b|\b(?:{_NODES})\b"
    r"|\b(?:INT(?:8|16|32|64|128)|BLOB|[A-Z]+_LITERAL)\b"
    r"|~~|\b_\d+\b|\w+_escape\b|\barray_(?:extract|slice)\b|transpile|\bDuckDB\b|\bTraceback\b",
)
_DATA = re.compile(r"'(?:[^']|'')*'")
_ROWS = 50
_STATEMENTS_A_WORLD = 300


@dataclass(slots=True)
class Report:
    """How it went.

    Attributes:
        tried: statements that ran.
        failures: what must not happen, with its statement, a few of each kind.
        kinds: how often each kind of failure happened.
    """

    tried: int = 0
    failures: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def run(self, connection: Connection, sql: str) -> None:
        """Run a statement and judge how it ends."""
        self.tried += 1
        found = failure(connection, sql)
        if found is not None:
            kind, detail = found
            self.kinds[kind] += 1
            if self.kinds[kind] <= 5:
                self.failures.append(f"{kind}: {detail}\n    {sql}")


def failure(connection: Connection, sql: str) -> tuple[str, str] | None:
    """What is wrong with how a statement ends, as a kind and in detail; None if nothing is."""
    try:
        cursor = connection.execute(sql)
        if cursor.description is not None:
            cursor.fetchmany(_ROWS)
    except Error as error:
        message = f"{error.message} | {error.hint or ''}"
        if error.sqlstate == "XX000":
            return "XX000", f"{message} {error.__cause__!r}"
        written = sql.lower()
        for found in _INSIDE.finditer(_DATA.sub("''", message)):
            if found[0].lower() not in written:
                return f"names {found[0]}", message
    except Exception as error:
        return f"raises {type(error).__name__}", repr(error)
    return None


def mutate_scripts(random: Random, count: int) -> Report:
    """About so many mutations of the golden scripts' statements, each where it stands."""
    report = Report()
    listed = [list(statements) for statements in scripts()]
    pool = [t for statements in listed for sql in statements for t in tokens_of(sql) if t.strip()]
    share = count / sum(map(len, listed))
    for statements in listed:
        with connect() as connection:
            for sql in statements:
                tokens = tokens_of(sql)
                for _ in range(_times(random, share)):
                    report.run(connection, mutated(random, tokens, pool))
                report.run(connection, sql)
    return report


def mutate_shapes(random: Random, shapes: Iterable[str], share: float) -> Report:
    """Each shape as it is, and about so many mutations of it."""
    report = Report()
    listed = list(shapes)
    pool = [token for sql in listed for token in tokens_of(sql) if token.strip()]
    for group in _groups(listed):
        with world() as connection:
            for sql in group:
                tokens = tokens_of(sql)
                report.run(connection, sql)
                for _ in range(_times(random, share)):
                    report.run(connection, mutated(random, tokens, pool))
    return report


def _groups(shapes: list[str]) -> Iterator[list[str]]:
    """Shapes that share a world: statements change it, so none lives long."""
    for start in range(0, len(shapes), _STATEMENTS_A_WORLD):
        yield shapes[start : start + _STATEMENTS_A_WORLD]


def _times(random: Random, share: float) -> int:
    return int(share) + (random.random() < share % 1)
