"""Rows of files that are not loaded: which they are, where they stand, and why.

As a file of JSON lines, in the order of the files:

    {"file": "/data/in.csv", "line": 17, "reason": "column 'id': 'x' is no INT", "row": "{..}"}

`line` is that of a text; `row_number`, from 1, counts the rows of other files, and of text where
lines cannot be determined.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pykudu_sql.storage.errors import DataError

MAX_LISTED_REJECTS: Final = 5

BROKEN: Final = "broken lines"
NO_VALUE: Final = "values that do not fit"
NULL: Final = "NULL where none may be"
OUTSIDE: Final = "outside all ranges"
PRESENT: Final = "with a key that is present already"
TWICE: Final = "with a key given twice"
MISSING: Final = "with a key that is missing"


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
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())


def too_many(rejects: Sequence[Reject], count: str, hint: str) -> DataError:
    """The error of a load that is not done for its rejects.

    `rejects`: the first ones; `count`: of all, in words; `hint`: the way out.
    """
    rejects_text = "\n".join(f"  {one.text()}" for one in rejects)
    return DataError(
        f"{count} rows do not fit the table, so nothing was loaded; the first:\n{rejects_text}",
        hint=hint,
    )
