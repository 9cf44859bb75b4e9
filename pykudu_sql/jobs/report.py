"""What a job did, counted while Spark did it."""

import time
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as f


@dataclass(frozen=True, slots=True)
class JobReport:
    """What a job did.

    Attributes:
        rows: written.
        bytes: of the files that were written.
        seconds: from start to end, Spark's own start included.
        rejected: rows that did not fit and were left out.
        reasons: why, in words.
        note: what else there is to say, or nothing.
    """

    rows: int
    bytes: int
    seconds: float
    rejected: int = 0
    note: str = ""
    reasons: str = ""

    def text(self) -> str:
        """One line for a person."""
        rate = self.rows / self.seconds if self.seconds else 0.0
        note = f"{self.note}: " if self.note else ""
        why = f" ({self.reasons})" if self.reasons else ""
        rejected = f", {self.rejected:,} rejected{why}" if self.rejected else ""
        return (
            f"{note}{self.rows:,} rows, {self.bytes:,} bytes in {self.seconds:.1f} s "
            f"({rate:,.0f} rows/s){rejected}"
        )


class Stopwatch:
    """Measures a job."""

    def __init__(self) -> None:
        """Time runs from here."""
        self._start = time.monotonic()

    def report(self, rows: int, size: int, rejected: int = 0, note: str = "") -> JobReport:
        """The report of what has ended now."""
        return JobReport(rows, size, time.monotonic() - self._start, rejected, note)


class RowCounter:
    """Counts the rows of a DataFrame while something else reads it."""

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self._observation = Observation()

    def watch(self, rows: DataFrame) -> DataFrame:
        """The same rows, counted by the next action on them."""
        return rows.observe(self._observation, f.count(f.lit(1)).alias("rows"))

    @property
    def rows(self) -> int:
        """How many there were; waits for the action."""
        return int(self._observation.get["rows"])


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
