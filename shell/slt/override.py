"""Results written back into a script; comments, layout and everything that was right stay."""

from collections.abc import Iterable, Sequence

from pykudu_sql.shell.slt.outcomes import (
    Completed,
    Failed,
    Unexpected,
    prefers_rows,
    result_lines,
    result_rows,
)
from pykudu_sql.shell.slt.parser import SEPARATOR, split_lines
from pykudu_sql.shell.slt.records import QueryRecord, StatementRecord, Success
from pykudu_sql.shell.slt.runner import ExecutedRecord
from pykudu_sql.shell.slt.values import digest


def rewrite(text: str, executed: Iterable[ExecutedRecord]) -> str:
    """A script with the expectation of every record that had a problem replaced by its outcome.

    A query that failed is left as it is: that is for a person to decide.
    """
    lines = split_lines(text)
    for one in sorted(executed, key=lambda one: one.record.source.line, reverse=True):
        source = one.record.source
        if one.problem is not None:
            old = lines[source.line - 1 : source.end]
            lines[source.line - 1 : source.end] = _rewrite_record(one, old)
    return "\n".join(lines)


def _rewrite_record(one: ExecutedRecord, old: Sequence[str]) -> Sequence[str]:
    sql = [line for line in old[1:] if line.strip()]
    separator = next((i for i, line in enumerate(sql) if line.strip() == SEPARATOR), len(sql))
    sql = sql[:separator]
    match one.record, one.outcome:
        case QueryRecord() as query, Completed(_, rows) if rows is not None:
            return [old[0], *sql, SEPARATOR, *_result(query, rows, one.hash_threshold)]
        case StatementRecord(_, _, Success(int())), Completed(rowcount):
            return [f"statement count {rowcount}", *sql]
        case StatementRecord(), Completed():
            return ["statement ok", *sql]
        case StatementRecord(), Failed(sqlstate):
            return [f"statement error ({sqlstate})" if sqlstate else "statement error", *sql]
        case _, (Failed() | Unexpected() | Completed()):
            return old


def _result(query: QueryRecord, rows: Sequence[Sequence[object]], hash_threshold: int) -> list[str]:
    formatted = result_rows(query, rows)
    count = sum(map(len, formatted))
    if 0 < hash_threshold < count:
        return [str(digest(formatted))]
    return result_lines(formatted, by_row=prefers_rows(query))
