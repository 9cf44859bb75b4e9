"""Rows that a load leaves out, gathered while files are read, and placed at its end."""

import heapq
from collections.abc import Mapping, Sequence

from pykudu_sql.dataclass import dataclass
from pykudu_sql.files.reading.row_files import RowFile
from pykudu_sql.jobs.rejects import Reject


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A row that is not loaded. `record`: its number in the file, from 0; others: see `Reject`."""

    record: int
    kind: str
    reason: str
    row: str


class RejectCollector:
    """The rejects of all files of a load, up to a limit. `count`: of all, beyond it too.

    Rows that the table refuses are noted later than those of the same batch whose values do not
    fit; those that are kept are the first in the order of the files.
    """

    def __init__(self, limit: int) -> None:
        """None yet. `limit`: of rows that are kept."""
        self.count = 0
        self._limit = limit
        self._files: list[tuple[str, RowFile]] = []
        # The last one comes first. The number in the middle is that of the note.
        self._first_rejects: list[tuple[int, int, int, RejectedRecord]] = []

    def begin(self, path: str, rows: RowFile) -> None:
        """From here on rejects are of another file."""
        self._files.append((path, rows))

    def add(self, reject: RejectedRecord, file: int | None = None) -> None:
        """Note a row of a file, the newest unless said."""
        self.count += 1
        place = (-(self.newest if file is None else file), -reject.record, self.count, reject)
        if len(self._first_rejects) < self._limit:
            heapq.heappush(self._first_rejects, place)
        else:
            heapq.heappushpop(self._first_rejects, place)

    @property
    def newest(self) -> int:
        """The number of the file that is read."""
        return len(self._files) - 1

    def located(self, most: int) -> list[Reject]:
        """The first of them with their places, in the order of the files.

        `most`: of rows. Files are read once more, as far as the last that is wanted.
        """
        first = sorted(self._first_rejects, key=lambda place: (-place[0], -place[1]))[:most]
        rejects: list[Reject] = []
        for number, (path, rows) in enumerate(self._files):
            own = [record for file, _, _, record in first if -file == number]
            rejects += _located(path, own, rows.lines([one.record for one in own]))
        return rejects


def _located(
    path: str, records: Sequence[RejectedRecord], lines: Mapping[int, int]
) -> Sequence[Reject]:
    return [
        Reject(path, one.kind, one.reason, one.row, lines.get(one.record), one.record + 1)
        for one in records
    ]
