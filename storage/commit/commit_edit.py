"""The manifest edit of a commit that brings files, new tables or a writer batch."""

from collections.abc import Sequence
from typing import Any

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.catalog.writer_batch import WriterBatch
from pykudu_sql.storage.common.types.hybrid_time import Timestamp
from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletEdit


def commit_edit(
    timestamp: Timestamp,
    sequence: int,
    tablets: Sequence[TabletEdit],
    batch: WriterBatch | None,
    new_tables: Sequence[TableInfo],
    replaced: Sequence[str],
) -> dict[str, Any]:
    """The edit as JSON, as the manifest appends it.

    Args:
        sequence: of its record in the log, 0 for none.
        tablets: their rowsets that the commit brings.
        batch: that it notes as done.
        new_tables: that are there from the commit on.
        replaced: ids of tables that are dropped at that moment.
    """
    edit: dict[str, Any] = {
        "op": "create" if new_tables else "tablets",
        "ts": timestamp,
        "sequence": sequence,
        "tablets": [edit.to_json() for edit in tablets],
    }
    if new_tables:
        edit["tables"] = [table.to_json() for table in new_tables]
    if replaced:
        edit["replaced"] = list(replaced)
    if batch is not None:
        edit["done"] = batch.to_json()
    return edit
