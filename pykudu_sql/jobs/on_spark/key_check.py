"""Keys of files against each other and against the table, before anything is written.

A commit finds them, too, and then there is none. Here they become reasons of single rows: of a key
that several rows have, the first of them in the order of the files is loaded.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from pykudu_sql.jobs.on_spark.row_check import RowCheck
from pykudu_sql.jobs.on_spark.source_files import NUMBER
from pykudu_sql.jobs.rejects import MISSING, PRESENT, TWICE
from pykudu_sql.spark.arrow.named_column import cell
from pykudu_sql.spark.tables import read_table
from pykudu_sql.storage.common.rows.row_operation import RowOpKind

KIND: Final = "kind"
_FIRST: Final = "_pykudu_first"


def find_key_conflicts(
    check: RowCheck, checked: DataFrame, database: str, operation: RowOpKind
) -> DataFrame | None:
    """The numbers of rows that fit, but whose keys do not fit the operation; the `KIND` of each.

    A row may be there for two reasons. None where no key can be wrong: the operation takes any, or
    the files do not have the whole key. `check`: of the files; `checked`: their rows, with their
    `ROW_LOCATION`; `database`: its directory.
    """
    table = check.table
    names = [table.schema.by_id[i].name for i in table.schema.key_ids]
    present_columns = {column.name for column in check.columns}
    if operation not in (RowOpKind.INSERT, RowOpKind.UPDATE, RowOpKind.DELETE):
        return None
    if not present_columns.issuperset(names):
        return None
    aliases = [f"k{number}" for number in range(len(names))]
    renamed = [cell(name).alias(place) for name, place in zip(names, aliases, strict=True)]
    keys = check.fitting(checked, NUMBER).select(*renamed, NUMBER)
    stored = read_table(checked.sparkSession, database, table.name, columns=names).toDF(*aliases)
    if operation is not RowOpKind.INSERT:
        return keys.join(stored, aliases, "left_anti").select(NUMBER, f.lit(MISSING).alias(KIND))
    present = keys.join(stored, aliases, "left_semi").select(NUMBER, f.lit(PRESENT).alias(KIND))
    first = keys.groupBy(*aliases).agg(f.min(NUMBER).alias(_FIRST), f.count(NUMBER).alias("n"))
    several = first.where("n > 1").drop("n")
    later = keys.join(several, aliases).where(f.col(NUMBER) != f.col(_FIRST))
    return present.unionByName(later.select(NUMBER, f.lit(TWICE).alias(KIND)))
