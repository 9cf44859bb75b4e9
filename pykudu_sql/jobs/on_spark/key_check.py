"""Keys of files against each other and against the table, before anything is written.

A commit finds them, too, and then there is none. Here they become reasons of single rows: of a key
that several rows have, the first of them in the order of the files is loaded.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from pykudu_sql.jobs.on_spark.row_check import KIND, NUMBER, RowCheck
from pykudu_sql.jobs.rejects import MISSING, PRESENT, TWICE
from pykudu_sql.spark.tables import read_table
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.ingest.staging import StageTarget

_FIRST: Final = "_pykudu_first"
_REFUSING: Final = (RowOpKind.INSERT, RowOpKind.UPDATE, RowOpKind.DELETE)


def find_key_conflicts(
    check: RowCheck, checked: DataFrame, target: StageTarget
) -> DataFrame | None:
    """The numbers of rows that fit, but whose keys do not fit the operation; the `KIND` of each.

    A row may be there for two reasons. None where no key can be wrong: the operation takes any, or
    the files do not have the whole key. `check`: of the files; `checked`: their rows; `target`: of
    the load.
    """
    table, operation = target.table, target.kind
    places = {column_id: place for place, column_id in enumerate(check.column_ids)}
    key_ids = table.schema.key_ids
    if operation not in _REFUSING or not places.keys() >= set(key_ids):
        return None
    names = [table.schema.by_id[i].name for i in key_ids]
    aliases = [f"k{number}" for number in range(len(names))]
    renamed = [
        f.col(f"c{places[i]}").alias(alias) for i, alias in zip(key_ids, aliases, strict=True)
    ]
    keys = checked.where(f.col(KIND).isNull()).select(*renamed, NUMBER)
    stored = read_table(checked.sparkSession, target.root, table.name, columns=names)
    stored = stored.toDF(*aliases)
    first = keys.groupBy(*aliases).agg(f.min(NUMBER).alias(_FIRST), f.count(NUMBER).alias("n"))
    several = first.where("n > 1").drop("n")
    later = keys.join(several, aliases).where(f.col(NUMBER) != f.col(_FIRST))
    if operation is RowOpKind.INSERT:
        present = keys.join(stored, aliases, "left_semi")
        return _of_kind(present, PRESENT).unionByName(_of_kind(later, TWICE))
    missing = _of_kind(keys.join(stored, aliases, "left_anti"), MISSING)
    if operation is RowOpKind.UPDATE:
        return missing
    # What the first of several rows deletes is missing for the others.
    return missing.unionByName(_of_kind(later, MISSING))


def _of_kind(rows: DataFrame, kind: str) -> DataFrame:
    return rows.select(NUMBER, f.lit(kind).alias(KIND))
