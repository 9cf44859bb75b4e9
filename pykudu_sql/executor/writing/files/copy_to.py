"""COPY TO: rows of a query or a table to a file, which appears when all of them are there."""

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.chunked_rows import ChunkedRows, exported_rows, exported_table
from pykudu_sql.executor.writing.files.copy_options import access_of, kind_of
from pykudu_sql.files.atomic_output import atomic_replacement
from pykudu_sql.files.writing.partitioned_files import partitioned_writer
from pykudu_sql.files.writing.row_writers import row_writer
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.table_copy import CopyTable
from pykudu_sql.results.result import Outcome
from pykudu_sql.settings import EMBEDDED
from pykudu_sql.storage.errors import ProgrammingError

if TYPE_CHECKING:
    from pykudu_sql.planner.plan.copy_plans import CopyOptions, CopyTo


def copy_table(state: SessionState, plan: CopyTable, parameters: ParameterValues) -> Outcome:
    """Write all rows of a table to a file. Raises as `copy_to`."""
    if state.settings.engine != EMBEDDED:
        return copy_to(state, plan.general(), parameters)
    names = [column.name for column in plan.table.schema.visible_columns]
    read = partial(exported_table, state, plan.table, state.transactions.reading())
    return _write(state, read, names, plan.target, plan.options)


def copy_to(state: SessionState, plan: "CopyTo", parameters: ParameterValues) -> Outcome:
    """Write the rows of a query to a file; the outcome has their number.

    Raises FileAccessError, OperationalError: see `FileAccess.to_write`; NotSupportedError: the
    format has no such values; DiskError: the disk refused; Error: see `answer`. There is no file
    then, and one that was there stays as it was.
    """
    read = partial(exported_rows, state, plan.query, parameters, state.transactions.reading())
    return _write(state, read, plan.query.names, plan.target, plan.options)


def _write(
    state: SessionState,
    read: Callable[[], ChunkedRows],
    names: Sequence[str],
    path: str,
    options: "CopyOptions",
) -> Outcome:
    """Write rows to a file.

    `read`: begins to read them, when it is known that there may be a file; `names`: of the columns.
    """
    by, overwrites = options.get("partition_by"), bool(options.get("overwrite"))
    kind = kind_of(path, options)
    _check_distinct(names)
    if isinstance(by, tuple):
        target = access_of(state).to_make(path, overwrites)
    else:
        target = access_of(state).to_write(path)
    count = 0
    with (
        closing(read()) as rows,
        atomic_replacement(Path(target)) as unfinished,
    ):
        chunks = (chunk.rename_columns(names) for chunk in rows.chunks())
        first = next(chunks)
        if isinstance(by, tuple):
            unfinished.mkdir()
            writer = partitioned_writer(unfinished, kind, names, by)
        else:
            writer = row_writer(str(unfinished), kind, first.schema)
        with writer as write:
            write(first)
            count += first.num_rows
            del first
            for chunk in chunks:
                state.check_cancelled()
                write(chunk)
                count += chunk.num_rows
        state.check_cancelled()
    return Outcome(None, count, f"Copied {count} row(s)", changes_rows=False)


def _check_distinct(names: Sequence[str]) -> None:
    for name in names:
        if list(map(str.lower, names)).count(name.lower()) > 1:
            raise ProgrammingError(
                f"the file would have the column '{name:.80}' twice",
                hint="give one of them another name: AS",
                sqlstate="42701",
            )
