"""What an engine has computed, as values that a column can take."""

import pyarrow as pa

from pykudu_sql.engine.query_engine import EngineResult
from pykudu_sql.results.table_result import python_values
from pykudu_sql.storage.errors import InvalidValueError

# Arrow has no such types: their values travel as bytes, or as decimals without regard to the sign.
_AS_TEXT = frozenset({"BIGNUM", "UHUGEINT"})
_NEVER = frozenset({"BIT"})


def storable(result: EngineResult) -> pa.Table:
    """The rows of a query, to be converted to the types of columns.

    Integers of any length become their digits, which each type reads as it reads a text. Raises
    InvalidValueError: a column of a type whose values only the engine understands.
    """
    table = result.table
    for index, kind in enumerate(result.types):
        name = table.schema.names[index]
        if kind in _NEVER:
            raise InvalidValueError(
                f"column {index + 1} of the query is of type {kind}, which no column takes",
                hint="CAST it to STRING or to an integer",
            )
        if kind in _AS_TEXT:
            numbers = python_values(table.column(index), kind)
            digits = [None if number is None else str(number) for number in numbers]
            table = table.set_column(index, name, pa.array(digits, pa.string()))
    return table
