"""Predicates of a scan made of the words of its text columns, for conditions the engine computes.

See `planner.pushdown.words.word_conditions`. The words are those of dictionaries, of changes and of
rows in memory, so they are known before rows are read. Some may be words that no row has: where the
engine refuses one of them, its rows are computed one by one.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from pykudu_sql.executor.reading.groups.dictionary_codes import MOST_WORDS
from pykudu_sql.executor.reading.query_parameters import parameter_values
from pykudu_sql.executor.reading.scans import pruned_scan, rows_to_scan
from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.operands.comparison import conjunction
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.plan import Query, Scan
from pykudu_sql.planner.pushdown.words.text_functions import WORD, WORDS
from pykudu_sql.storage.catalog.system_catalog import is_system
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.predicate.column_predicate import InList, IsNull, Or, Predicate
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import combine
from pykudu_sql.storage.errors import DataError, ProgrammingError
from pykudu_sql.storage.scan.column_words import words_of
from pykudu_sql.storage.transaction.transaction import Transaction

# To ask words takes two milliseconds, as does what the engine computes for so many rows.
LEAST_ROWS = 100_000
# What most words meet is left to the engine, which asks about the rows that are left anyway.
_MOST_MATCHING = 0.5


def word_predicate(
    state: SessionState,
    query: Query,
    parameters: ParameterValues,
    scan: Scan,
    predicate: Predicate | None,
    transaction: Transaction,
) -> Predicate | None:
    """What words say of the conditions of a scan; None where they say nothing, or rows are few.

    Args:
        query: with the conditions, whose parameters have values that fit.
        scan: whose they are.
        predicate: its own.
        transaction: what it sees.

    Raises CorruptionError: a dictionary is not what was written; QueryCancelledError: the session
    was interrupted.
    """
    is_stored = isinstance(scan.table, TableInfo) and not is_system(scan.table)
    if not is_stored or scan.history is not None:
        return None
    if rows_to_scan(scan, predicate, transaction) < LEAST_ROWS:
        return None
    table_scan = pruned_scan(scan, predicate, transaction)
    parts: list[Predicate] = []
    for condition in query.word_conditions:
        if condition.scan != scan.name:
            continue
        column = scan.table.schema.by_id[condition.column_id]
        words = words_of(table_scan, column, MOST_WORDS)
        if words is None:
            continue
        cells = pa.concat_arrays([words, pa.nulls(1, words.type)])
        part = condition.over_words()
        values = parameter_values(part, parameters)
        answers = function_of_words(state, part.sql, cells, values)
        if answers is None or not pa.types.is_boolean(answers.type):
            continue
        is_met = pc.fill_null(answers, False)
        matching = pc.filter(words, is_met.slice(0, len(words)))
        if len(matching) <= _MOST_MATCHING * len(words):
            listed = InList(column.id, tuple(matching.to_pylist()))
            has_null = is_met[len(words)].as_py()
            parts.append(Or((listed, IsNull(column.id))) if has_null else listed)
    return conjunction(tuple(parts)) if parts else None


def function_of_words(
    state: SessionState, sql: str, words: pa.Array, values: Sequence[Any] = ()
) -> pa.Array | None:
    """The values of a function of texts; None where it fails for one, that rows may not have.

    `values`: of parameters.
    """
    try:
        result = state.engine.execute(sql, {WORDS: pa.table({WORD: words})}, values)
    except (DataError, ProgrammingError):
        return None
    return combine(result.table.column(0))
