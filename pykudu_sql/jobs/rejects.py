"""Rows of files that are not loaded: which they are, where they stand, and why.

As a file of JSON lines, in the order of the files:

    {"file": "/data/in.csv", "line": 17, "reason": "column 'id': 'x' is no INT", "row": "{..}"}

`line` is that of a text; `row_number`, from 1, counts the rows of other files, and of text where
lines cannot be determined.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_result import RowError, status_of
from pykudu_sql.storage.errors import (
    AlreadyPresentError,
    DatabaseError,
    DataError,
    IntegrityError,
    NotNullError,
    RowNotFoundError,
    UncoveredRangeError,
)

MAX_LISTED_REJECTS: Final = 5

BROKEN: Final = "broken lines"
NO_VALUE: Final = "values that do not fit"
NULL: Final = "NULL where none may be"
OUTSIDE: Final = "outside all ranges"
PRESENT: Final = "with a key that is present already"
TWICE: Final = "with a key given twice"
MISSING: Final = "with a key that is missing"
CHECKED: Final = "that break a constraint"
_SINGULAR: Final = {
    BROKEN: "broken line",
    NO_VALUE: "value that does not fit",
    CHECKED: "that breaks a constraint",
}
_KEY_REASONS: Final = {
    PRESENT: "is present already", TWICE: "is given twice", MISSING: "does not exist",
}  # fmt: skip
_KEY_KINDS: Final = tuple(_KEY_REASONS)


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that is not loaded.

    Attributes:
        path: of the file.
        kind: of the reason, to be counted.
        reason: a sentence.
        row: as it came, as text.
        line: where it begins, from 1; None where that cannot be determined.
        row_number: in the file, from 1.
    """

    path: str
    kind: str
    reason: str
    row: str
    line: int | None
    row_number: int

    def to_json(self) -> str:
        """As one line of a file of rejects."""
        place = {"row_number": self.row_number} if self.line is None else {"line": self.line}
        document = {"file": self.path, **place, "reason": self.reason, "row": self.row}
        return json.dumps(document, ensure_ascii=False)

    def text(self) -> str:
        """For a person."""
        place = f"row {self.row_number}" if self.line is None else f"line {self.line}"
        return f"{self.path}, {place}: {self.reason}: {self.row:.200}"


def write_rejects(rejects: Sequence[Reject], target: Path) -> None:
    """Write rejects to a file."""
    target.write_text("".join(one.to_json() + "\n" for one in rejects), encoding="utf-8")


def counted(rejects: Sequence[Reject]) -> str:
    """How many rejects there are of each kind, for a person."""
    kinds = Counter(one.kind for one in rejects)
    return ", ".join(
        f"{count:,} {_SINGULAR.get(kind, kind) if count == 1 else kind}"
        for kind, count in kinds.items()
    )


def key_reason(kind: str, key: str) -> str:
    """Why a key does not fit an operation. `kind`: of the reason; `key`: `(id) = (5)`."""
    return f"key {key} {_KEY_REASONS[kind]}"


def rule_reason(
    table: TableInfo,
    columns: Mapping[int, pa.Array | pa.ChunkedArray],
    row: int,
    error: RowError | DatabaseError,
) -> tuple[str, str]:
    """The kind of reason and the reason for which a rule of the table refuses a row.

    `columns`: of the rows, by id; `row`: its index there; `error`: of the row.
    """
    if error.sqlstate == NotNullError.default_sqlstate:
        nulls = (
            column.name
            for column in table.schema.columns
            if not column.nullable and column.id in columns and not columns[column.id][row].is_valid
        )
        name = next(nulls, None)
        return NULL, error.message if name is None else f"column '{name}' must not be NULL"
    if error.sqlstate == UncoveredRangeError.default_sqlstate:
        # A constraint has the same state.
        status = error.status if isinstance(error, RowError) else status_of(error)
        is_outside = status == status_of(UncoveredRangeError(""))
        return OUTSIDE if is_outside else CHECKED, error.message
    return NO_VALUE, error.message


def unfit_rows_error(
    rejects: Sequence[Reject], count: int, most: int | None
) -> DataError | IntegrityError:
    """The error of a load that is not done for its rejects.

    Args:
        rejects: the first ones.
        count: of all.
        most: that are permitted; None where none is.

    Returns an IntegrityError if nothing but keys is wrong with those.
    """
    number = f"{count:,}" if most is None else f"more than {most:,}"
    rows_text = "1 row does" if number == "1" else f"{number} rows do"
    rejects_text = "\n".join(f"  {one.text()}" for one in rejects[:MAX_LISTED_REJECTS])
    text = f"{rows_text} not fit the table, so nothing was loaded; the first:\n{rejects_text}"
    if most is not None:
        return DataError(text, hint="--max-rejects N permits more")
    hint = "--rejects FILE puts such rows there and loads the others"
    if not all(one.kind in _KEY_KINDS for one in rejects):
        return DataError(text, hint=hint)
    kind = RowNotFoundError if rejects[0].kind == MISSING else AlreadyPresentError
    return kind(text, hint=hint)
