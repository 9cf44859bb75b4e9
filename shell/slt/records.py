"""The records of a script as frozen values."""

from enum import StrEnum

from pykudu_sql.dataclass import dataclass


class Sort(StrEnum):
    """How the values of a result are ordered before they are compared."""

    NOSORT = "nosort"
    ROWSORT = "rowsort"
    VALUESORT = "valuesort"


@dataclass(frozen=True, slots=True)
class Condition:
    """`onlyif NAME` or `skipif NAME`."""

    name: str
    only: bool

    def allows(self, labels: frozenset[str]) -> bool:
        """Whether a runner that answers to these names runs the record."""
        return (self.name in labels) == self.only


@dataclass(frozen=True, slots=True)
class RecordSource:
    """Where a record stands and when it runs.

    Attributes:
        line: its first line after conditions, from 1.
        end: its last line.
        conditions: all must allow it.
        connection: name of the connection it runs on; empty for the first one.
    """

    line: int
    end: int
    conditions: tuple[Condition, ...] = ()
    connection: str = ""

    def runs_for(self, labels: frozenset[str]) -> bool:
        """Whether a runner that answers to these names runs it."""
        return all(condition.allows(labels) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Success:
    """`statement ok`, or with a number of rows `statement count N`."""

    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """`statement error`.

    Attributes:
        sqlstate: five characters, or empty for any.
        pattern: a regular expression found somewhere in the message; empty for any.
        text: the whole message, line for line, or None.
    """

    sqlstate: str = ""
    pattern: str = ""
    text: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class StatementRecord:
    """A statement whose rows do not matter."""

    source: RecordSource
    sql: str
    expected: Success | Failure


@dataclass(frozen=True, slots=True)
class Digest:
    """`N values hashing to MD5`."""

    values: int
    md5: str

    def __str__(self) -> str:
        return f"{self.values} values hashing to {self.md5}"


@dataclass(frozen=True, slots=True)
class ExpectedValues:
    """Expected values one by one.

    Attributes:
        rows: a tuple of values for each row.
        by_row: written a row a line, `1 | 999`, and not a value a line.
    """

    rows: tuple[tuple[str, ...], ...]
    by_row: bool


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A statement whose rows are compared.

    Attributes:
        types: a letter for each column: I integer, R three decimals, T text.
        sort: order before comparison.
        label: queries of one label have one result; empty for none.
        expected: values, their digest, or None when the script has no result yet.
    """

    source: RecordSource
    sql: str
    types: str
    sort: Sort
    label: str
    expected: ExpectedValues | Digest | None


@dataclass(frozen=True, slots=True)
class ExplainRecord:
    """`explain TEXT`: the plan of a query says TEXT somewhere."""

    source: RecordSource
    sql: str
    text: str


@dataclass(frozen=True, slots=True)
class Halt:
    """`halt`: leave the rest of the script out."""

    source: RecordSource


@dataclass(frozen=True, slots=True)
class HashThreshold:
    """`hash-threshold N`: results of more values are written as a digest; 0 for never."""

    source: RecordSource
    values: int


@dataclass(frozen=True, slots=True)
class Subtest:
    """`subtest NAME`: a heading."""

    source: RecordSource
    name: str


@dataclass(frozen=True, slots=True)
class Restart:
    """`restart`: close every connection and open the database again."""

    source: RecordSource


@dataclass(frozen=True, slots=True)
class FlushRecord:
    """`flush`: write what is in memory to files."""

    source: RecordSource


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`snapshot NAME`: remember this moment; `${NAME}` in later SQL is its hybrid time."""

    source: RecordSource
    name: str


@dataclass(frozen=True, slots=True)
class Control:
    """`control NAME on|off`: a setting of the connections opened from here on."""

    source: RecordSource
    name: str
    on: bool


Record = (
    StatementRecord | QueryRecord | ExplainRecord | Halt | HashThreshold | Subtest | Restart
    | FlushRecord | Snapshot | Control
)  # fmt: skip
