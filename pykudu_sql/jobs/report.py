"""What a job did, and how it tells how far it is."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.noun_count import noun_count

# Called from time to time with how much is done, in words.
Progress = Callable[[str], None]


def silent(text: str) -> None:
    """The `Progress` of whoever does not look."""


@dataclass(frozen=True, slots=True)
class JobReport:
    """What a job did.

    Attributes:
        rows: written; None where files were copied as they are.
        bytes: of the files that were written, or read by a load.
        seconds: from start to end, Spark's own start included.
        rejected: rows that did not fit and were left out.
        reasons: why, in words.
        note: what else there is to say, or nothing.
    """

    rows: int | None
    bytes: int
    seconds: float
    rejected: int = 0
    note: str = ""
    reasons: str = ""

    def because(self, reasons: str) -> "JobReport":
        """The same with the reasons why rows were left out."""
        return replace(self, reasons=reasons)

    def text(self) -> str:
        """One line for a person."""
        note = f"{self.note}: " if self.note else ""
        why = f" ({self.reasons})" if self.reasons else ""
        rejected = f", {self.rejected:,} rejected{why}" if self.rejected else ""
        rows, rate = "", ""
        if self.rows is not None:
            rows = f"{noun_count(self.rows, 'row')}, "
            speed = round(self.rows / self.seconds) if self.seconds else 0
            rate = f" ({noun_count(speed, 'row')}/s)" if speed else ""
        size = noun_count(self.bytes, "byte")
        return f"{note}{rows}{size} in {self.seconds:.1f} s{rate}{rejected}"


class Stopwatch:
    """Measures a job."""

    def __init__(self) -> None:
        """Time runs from here."""
        self._start = time.monotonic()

    def report(self, rows: int | None, size: int, rejected: int = 0, note: str = "") -> JobReport:
        """The report of what has ended now."""
        return JobReport(rows, size, time.monotonic() - self._start, rejected, note)


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files below a folder, as far as they are there and can be read.

    It tells how much was done, so a file that is gone meanwhile, or may not be looked at, is no
    error here: whoever reads it says so.
    """
    if path.is_file():
        return _bytes_of(str(path))
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sum(map(_bytes_of, paths))


def _bytes_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
