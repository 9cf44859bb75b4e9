"""The result of a query materialized as a table, within the memory limit of the engine.

The rows that a statement writes are materialized first. The engine does not count memory of rows
that it has handed over, so they are counted here batch by batch.
"""

from typing import TYPE_CHECKING

from pykudu_sql.storage.errors import OperationalError

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyRelation


def materialized_rows(
    relation: "DuckDBPyRelation", memory_limit: int, batch_rows: int
) -> "pa.Table":
    """All rows of a query.

    Args:
        relation: that gives them.
        memory_limit: bytes they may take, 0 for any number.
        batch_rows: how many are made before they are counted.

    Raises OperationalError: they take more (53200).
    """
    if not memory_limit:
        return relation.to_arrow_table()
    import pyarrow as pa

    batches = []
    size = 0
    with relation.to_arrow_reader(batch_rows) as reader:
        for batch in reader:
            size += batch.nbytes
            if size > memory_limit:
                raise OperationalError(
                    f"the rows that this statement holds take more than {memory_limit} bytes",
                    hint="write fewer rows at once, or allow more: connect(memory_limit=...), "
                    "--set memory_limit=..",
                    sqlstate="53200",
                )
            batches.append(batch)
        return pa.Table.from_batches(batches, reader.schema)
