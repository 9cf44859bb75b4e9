"""COPY TO: the rows of a query to a file, which appears when all of them are there."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.executor.writing.chunked_rows import exported_rows
from pykudu_sql.executor.writing.copy_options import access_of, kind_of
from pykudu_sql.files.atomic_output import atomic_replacement
from pykudu_sql.files.writing.partitioned_files import partitioned_writer
from pykudu_sql.files.writing.row_writers import row_writer
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.copy_plans import CopyTo
from pykudu_sql.results.result import Outcome
from pykudu_sql.storage.errors import ProgrammingError


def copy_to(state: SessionState, plan: CopyTo, parameters: ParameterValues) -> Outcome:
    """Write the rows of a query to a file; the outcome has their number.

    Raises FileAccessError, OperationalError: see `FileAccess.to_write`; NotSupportedError: the
    format has no such values; DiskError: the disk refused; Error: see `answer`. There is no file
    then, and one that was there stays as it was.
    """
    by, overwrites = plan.options.get("partition_by"), bool(plan.options.get("overwrite"))
    names, kind = plan.query.names, kind_of(plan.target, plan.options)
    _check_distinct(names)
    if isinstance(by, tuple):
        target = access_of(state).to_make(plan.target, overwrites)
    else:
        target = access_of(state).to_write(plan.target)
    count = 0
    transaction = state.transactions.reading()
    with (
        closing(exported_rows(state, plan.query, parameters, transaction)) as rows,
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
    return Outcome(None, count, f"Copied {count} row(s)")


def _check_distinct(names: Sequence[str]) -> None:
    for name in names:
        if list(map(str.lower, names)).count(name.lower()) > 1:
            raise ProgrammingError(
                f"the file would have the column '{name:.80}' twice",
                hint="give one of them another name: AS",
                sqlstate="42701",
            )
