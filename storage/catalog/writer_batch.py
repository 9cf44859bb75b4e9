"""Writes that happen once: the batches of a writer that were committed, by number.

A stream that is restarted writes its last batch again, and cannot know whether it was committed.
The manifest does: the edit that commits a batch names writer and number, and a number that is not
above the last is not done again.
"""

from typing import Any

from pykudu_sql.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WriterBatch:
    """One batch of one writer.

    `writer`: its name; `number`: of the batch; each is greater than the one before.
    """

    writer: str
    number: int

    def to_json(self) -> dict[str, Any]:
        """The batch as plain JSON values."""
        return {"writer": self.writer, "batch": self.number}
