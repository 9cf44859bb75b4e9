"""Every error a user can cause, one class for each thing the caller can do next.

The tree is PEP 249's, so the database face re-exports it unchanged: a program that catches
`IntegrityError` from any DB-API driver catches ours. Each class carries its SQLSTATE
(ISO 9075; the class is the first two characters). A message names the object and the value
and, where there is one, the way out, which is kept apart as `hint`.
"""

from typing import ClassVar

from pykudu_sql.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Where in a statement an error lies.

    Attributes:
        line: 1-based line number.
        column: 1-based column, in characters.
        text: the whole line of source.
        length: how many characters it spans.
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
    length: int = 1


class Warning(Exception):
    """PEP 249: an important warning."""


class Error(Exception):
    """The root of all errors of the database.

    Attributes:
        sqlstate: five characters of ISO 9075.
        message: one sentence that names the object and the value.
        span: the place in the statement, or None.
        position: the same with the line it is on, set where the statement's text is known.
    """

    default_sqlstate: ClassVar[str] = "HY000"

    def __init_subclass__(cls, *, sqlstate: str | None = None) -> None:
        super().__init_subclass__()
        cls.default_sqlstate = sqlstate or cls.default_sqlstate

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        span: SourceSpan | None = None,
        sqlstate: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.span = span
        self.position: SourcePosition | None = None
        self.sqlstate = sqlstate or self.default_sqlstate

    def __str__(self) -> str:
        parts = [self.message]
        if self.position is not None:
            parts.append(self.position.caret())
        if self.hint:
            parts.append(f"HINT: {self.hint}")
        return "\n".join(parts)


class InterfaceError(Error, sqlstate="08003"):
    """The driver was used wrongly (a closed cursor, a missing parameter)."""


class DatabaseError(Error):
    """PEP 249: the root of everything that concerns the database itself."""


class DataError(DatabaseError, sqlstate="22000"):
    """A value does not fit: out of range, too long, not of the column's type."""


class OperationalError(DatabaseError, sqlstate="58000"):
    """Not the program's fault: disk, memory, locks, time. Some are worth a retry."""


class IntegrityError(DatabaseError, sqlstate="23000"):
    """A constraint of the table would be broken."""


class InternalError(DatabaseError, sqlstate="XX000"):
    """The database found itself in a state that must not be."""


class ProgrammingError(DatabaseError, sqlstate="42000"):
    """The statement is wrong: syntax, unknown names, misuse."""


class NotSupportedError(DatabaseError, sqlstate="0A000"):
    """Understood, and not offered."""


class SyntaxError(ProgrammingError, sqlstate="42601"):
    """The text is not SQL of our dialect."""


class UnknownStatementError(SyntaxError):
    """The text begins with a word that no statement begins with, nor one like it."""


class UndefinedTableError(ProgrammingError, sqlstate="42P01"):
    """No such table."""


class UndefinedColumnError(ProgrammingError, sqlstate="42703"):
    """No such column."""


class DuplicateObjectError(ProgrammingError, sqlstate="42P07"):
    """A table, column or partition of that name exists already."""


class UndefinedObjectError(ProgrammingError, sqlstate="42704"):
    """No such snapshot, savepoint, index or part of a database."""


class DependentObjectsError(ProgrammingError, sqlstate="2BP01"):
    """A table that RESTRICT does not let go, since views read it."""


class InvalidSchemaError(ProgrammingError, sqlstate="42P16"):
    """A table definition or a change of it that breaks a rule of the storage."""


class FileAccessError(ProgrammingError, sqlstate="42501"):
    """The program does not permit this connection to read or write that file."""


class ValueOutOfRangeError(DataError, sqlstate="22003"):
    """A number or a time outside the range of its type."""


class InvalidValueError(DataError, sqlstate="22018"):
    """A value that cannot be read as the column's type."""


class ValueTooLargeError(DataError, sqlstate="22001"):
    """A cell or an encoded key over its byte limit."""


class AlreadyPresentError(IntegrityError, sqlstate="23505"):
    """The primary key exists already."""


class ImmutableColumnError(IntegrityError, sqlstate="23001"):
    """A row that exists would get another value in an immutable column."""


class NotNullError(IntegrityError, sqlstate="23502"):
    """NULL, or nothing at all, for a column that needs a value."""


class RowNotFoundError(IntegrityError, sqlstate="02000"):
    """An UPDATE or DELETE by key of a row that is not there."""


class UncoveredRangeError(IntegrityError, sqlstate="23514"):
    """A key outside all range partitions of the table."""


class CheckViolationError(IntegrityError, sqlstate="23514"):
    """A row that makes the condition of a CHECK constraint false."""


class SerializationError(OperationalError, sqlstate="40001"):
    """Another transaction changed the same rows first. Retry the whole transaction."""


class TableChangedError(SerializationError, sqlstate="40001"):
    """A table was dropped or altered so that rows made for it before do not fit. Plan anew."""


class RowPositionError(ProgrammingError, IndexError, sqlstate="22023"):
    """A cursor was to go to a row that the result does not have; PEP 249 wants an IndexError."""


class SnapshotInFutureError(ProgrammingError, sqlstate="22023"):
    """The requested moment lies in the future."""


class HistoryPurgedError(OperationalError, sqlstate="72000"):
    """The requested moment lies before the history that is kept."""


class ClockError(OperationalError, sqlstate="58000"):
    """The system's clock shows a time that no commit can have."""


class LockedError(OperationalError, sqlstate="55006"):
    """Another process holds the database open for writing."""


class ReadOnlyError(OperationalError, sqlstate="25006"):
    """The database was opened read-only, or the write is to the past."""


class DiskError(OperationalError, sqlstate="58030"):
    """The operating system refused a file operation."""


class MissingPathError(DiskError, sqlstate="58030"):
    """No file or directory has the name that was asked for."""


class DirectoryReplacedError(DiskError, sqlstate="58P01"):
    """The database directory that this process has open was removed, or another is in its place."""


class TransactionResolutionUnknownError(OperationalError, sqlstate="08007"):
    """Whether a commit survives is not known: the disk refused it, and refused to take it back."""


class CorruptionError(DatabaseError, sqlstate="XX001"):
    """Bytes on disk are not what was written. Nothing was changed or thrown away."""


class FormatVersionError(OperationalError, sqlstate="0A001"):
    """The files were written by a newer version of the format."""


class StatementTooComplexError(ProgrammingError, sqlstate="54001"):
    """Too long or too deep a statement."""


class QueryCancelledError(OperationalError, sqlstate="57014"):
    """Interrupted by the user or by a time limit."""
