"""The formats that are written a column at a time, by their names.

Whoever imports it loads Arrow's kernels, so only what writes such a format does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from pykudu_sql.shell.output.columnar.delimited import csv, tsv
from pykudu_sql.shell.output.columnar.json_objects import json_array, jsonlines
from pykudu_sql.shell.output.columnar.texts import ColumnBatches

ColumnExport = Callable[[Sequence[str], ColumnBatches, str], Iterator[str]]

COLUMN_EXPORTS: Mapping[str, ColumnExport] = {
    "csv": csv,
    "json": json_array,
    "jsonlines": jsonlines,
    "tsv": tsv,
}
