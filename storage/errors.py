"""Every error a user can cause, one class for each thing the caller can do next.

The tree is PEP 249's, so the database face re-exports it unchanged: a program that catches
`IntegrityError` from any DB-API driver catches ours. Each class carries its SQLSTATE
(ISO 9075; the class is the first two characters). A message names the object and the value
and, where there is one, the way out, which is kept apart as `hint`.
"""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Where in a statement an error lies.

    Attributes:
        line: 1-based line number.
        column: 1-based column, in characters.
        text: the whole line of source.
        length: how many characters of it are meant.
    """

    line: int
    column: int
    text: str
    length: int = 1

    def caret(self) -> str:
        """The line of source with a row of carets under the place."""
        head = f"LINE {self.line}: "
        pad = "".join(c if c == "\t" else " " for c in self.text[: self.column - 1])
        return f"{head}{self.text}\n{' ' * len(head)}{pad}{'^' * max(1, self.length)}"


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A piece of a statement by its offset and length, for those who do not have its text."""

    start: int
    length: int


class Warning(Exception):
    """PEP 249: an important warning."""


class Error(Exception):
    """The root of all errors of the database.

    Attributes:
        sqlstate: five characters of ISO 9075.
        message: one sentence that names the object and the value.
        hint: the way out, or None.
        position: the place in the statement, or None.
        span: the same without the statement's text; who has the text makes a position of it.
    """

    default_sqlstate: ClassVar[str] = "HY000"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        position: SourcePosition | SourceSpan | None = None,
        sqlstate: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.position = None if isinstance(position, SourceSpan) else position
        self.span = position if isinstance(position, SourceSpan) else None
        self.sqlstate = sqlstate or self.default_sqlstate

    def __str__(self) -> str:
        parts = [self.message]
        if self.position is not None:
            parts.append(self.position.caret())
        if self.hint:
            parts.append(f"HINT: {self.hint}")
        return "\n".join(parts)


class InterfaceError(Error):
    """The driver was used wrongly (a closed cursor, a missing parameter)."""

    default_sqlstate = "08003"


class DatabaseError(Error):
    """PEP 249: the root of everything that concerns the database itself."""


class DataError(DatabaseError):
    """A value does not fit: out of range, too long, not of the column's type."""

    default_sqlstate = "22000"


class OperationalError(DatabaseError):
    """Not the program's fault: disk, memory, locks, time. Some are worth a retry."""

    default_sqlstate = "58000"


class IntegrityError(DatabaseError):
    """A constraint of the table would be broken."""

    default_sqlstate = "23000"


class InternalError(DatabaseError):
    """The database found itself in a state that must not be."""

    default_sqlstate = "XX000"


class ProgrammingError(DatabaseError):
    """The statement is wrong: syntax, unknown names, misuse."""

    default_sqlstate = "42000"


class NotSupportedError(DatabaseError):
    """Understood, and not offered."""

    default_sqlstate = "0A000"


class SyntaxError(ProgrammingError):
    """The text is not SQL of our dialect."""

    default_sqlstate = "42601"


class UnknownStatementError(SyntaxError):
    """The text begins with a word that no statement begins with, nor one like it."""


class UndefinedTableError(ProgrammingError):
    """No such table."""

    default_sqlstate = "42P01"


class UndefinedColumnError(ProgrammingError):
    """No such column."""

    default_sqlstate = "42703"


class DuplicateObjectError(ProgrammingError):
    """A table, column or partition of that name exists already."""

    default_sqlstate = "42P07"


class UndefinedObjectError(ProgrammingError):
    """No such snapshot, savepoint or index."""

    default_sqlstate = "42704"


class InvalidSchemaError(ProgrammingError):
    """A table definition or a change of it that breaks a rule of the storage."""

    default_sqlstate = "42P16"


class ValueOutOfRangeError(DataError):
    """A number or a time outside the range of its type."""

    default_sqlstate = "22003"


class InvalidValueError(DataError):
    """A value that cannot be read as the column's type."""

    default_sqlstate = "22018"


class ValueTooLargeError(DataError):
    """A cell or an encoded key over its byte limit."""

    default_sqlstate = "22001"


class AlreadyPresentError(IntegrityError):
    """The primary key exists already."""

    default_sqlstate = "23505"


class ImmutableColumnError(IntegrityError):
    """A row that exists would get another value in an immutable column."""

    default_sqlstate = "23001"


class NotNullError(IntegrityError):
    """NULL, or nothing at all, for a column that needs a value."""

    default_sqlstate = "23502"


class RowNotFoundError(IntegrityError):
    """An UPDATE or DELETE by key of a row that is not there."""

    default_sqlstate = "02000"


class UncoveredRangeError(IntegrityError):
    """A key outside all range partitions of the table."""

    default_sqlstate = "23514"


class SerializationError(OperationalError):
    """Another transaction changed the same rows first. Retry the whole transaction."""

    default_sqlstate = "40001"


class RowPositionError(ProgrammingError, IndexError):
    """A cursor was to go to a row that the result does not have; PEP 249 wants an IndexError."""

    default_sqlstate = "22023"


class SnapshotInFutureError(ProgrammingError):
    """The moment asked for has not come yet."""

    default_sqlstate = "22023"


class HistoryPurgedError(OperationalError):
    """The moment asked for lies before the history that is kept."""

    default_sqlstate = "72000"


class ClockError(OperationalError):
    """The system's clock shows a time that no commit can have."""

    default_sqlstate = "58000"


class LockedError(OperationalError):
    """Another process holds the database open for writing."""

    default_sqlstate = "55006"


class ReadOnlyError(OperationalError):
    """Opened read-only, or asked to change the past."""

    default_sqlstate = "25006"


class DiskError(OperationalError):
    """The operating system refused a file operation."""

    default_sqlstate = "58030"


class TransactionResolutionUnknownError(OperationalError):
    """Whether a commit survives is not known: the disk refused it, and refused to take it back."""

    default_sqlstate = "08007"


class CorruptionError(DatabaseError):
    """Bytes on disk are not what was written. Nothing was changed or thrown away."""

    default_sqlstate = "XX001"


class FormatVersionError(OperationalError):
    """The files were written by a newer version of the format."""

    default_sqlstate = "0A001"


class StatementTooComplexError(ProgrammingError):
    """Too long or too deep a statement."""

    default_sqlstate = "54001"


class QueryCancelledError(OperationalError):
    """Interrupted by the user or by a time limit."""

    default_sqlstate = "57014"
