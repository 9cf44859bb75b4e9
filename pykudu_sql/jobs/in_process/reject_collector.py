"""Rows that a load leaves out, gathered while files are read, and placed at its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pykudu_sql.files.row_files import RowFile
from pykudu_sql.jobs.rejects import Reject


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A row that is not loaded. `record`: its number in the file, from 0; others: see `Reject`."""

    record: int
    kind: str
    reason: str
    row: str


class RejectCollector:
    """The rejects of all files of a load, up to a limit. `count`: of all, beyond it too."""

    def __init__(self, limit: int) -> None:
        """None yet. `limit`: of rows that are kept."""
        self.count = 0
        self._limit = limit
        self._by_file: list[tuple[str, RowFile, list[RejectedRecord]]] = []

    def begin(self, path: str, rows: RowFile) -> None:
        """From here on rejects are of another file."""
        self._by_file.append((path, rows, []))

    def add(self, reject: RejectedRecord, file: int = -1) -> None:
        """Note a row of a file, the newest unless said."""
        self.count += 1
        if self.count <= self._limit:
            self._by_file[file][2].append(reject)

    @property
    def newest(self) -> int:
        """The number of the file that is read."""
        return len(self._by_file) - 1

    def located(self, most: int) -> list[Reject]:
        """The first of them with their places, in the order of the files.

        `most`: of rows. Files are read once more, as far as the last that is wanted.
        """
        rejects: list[Reject] = []
        for path, rows, records in self._by_file:
            first_rejects = sorted(records, key=lambda one: one.record)[: most - len(rejects)]
            rejects += _located(
                path, first_rejects, rows.lines([one.record for one in first_rejects])
            )
        return rejects


def _located(
    path: str, records: Sequence[RejectedRecord], lines: Mapping[int, int]
) -> Sequence[Reject]:
    return [
        Reject(path, one.kind, one.reason, one.row, lines.get(one.record), one.record + 1)
        for one in records
    ]
