"""Every word without quotes that may stand in SQL for an engine, and every text that printing adds.

Words are keywords of queries, names of types, the functions on the list of `functions`, units of
time, and the few names that sqlglot writes without quotes where it says a function in terms of
others. Keywords that begin statements of other kinds (COPY, ATTACH, SET, PRAGMA ...) are not here.
"""

from pykudu_sql.planner.functions.functions import ALLOWED
from pykudu_sql.planner.vocabulary.data_types import KINDS, NAMED_KINDS
from pykudu_sql.planner.vocabulary.time_units import ENGINE_UNITS, PARTS

_KEYWORDS = """
    ALL AND ANTI ANY AS ASC ASOF AT BETWEEN BOTH BY CASE CAST CROSS CUBE CURRENT DEFAULT DESC
    DISTINCT ELSE END ESCAPE EXCEPT EXCLUDE EXISTS FALSE FETCH FILTER FIRST FOLLOWING FOR FROM
    FULL GLOB GROUP GROUPING GROUPS HAVING IF IGNORE ILIKE IN INNER INTERSECT INTERVAL IS JOIN
    LAMBDA LAST LATERAL LEADING LEFT LIKE LIMIT MAP MATERIALIZED NAME NATURAL NEXT NO NOT NULL
    NULLS OF OFFSET ON ONLY OR ORDER ORDINALITY OTHERS OUTER OVER OVERLAY PARTITION PERCENT
    PLACING POSITIONAL PRECEDING QUALIFY RANGE RECURSIVE RENAME REPLACE RESPECT RIGHT ROLLUP ROW
    ROWS SELECT SEMI SETS SIMILAR SYMMETRIC THEN TIES TO TRAILING TRUE TRY TRY_CAST UNBOUNDED
    UNION USING VALUES WHEN WHERE WINDOW WITH WITHIN ZONE
"""
_TYPES = """
    BIGINT BIGNUM BIT BLOB BOOLEAN DATE DECIMAL DOUBLE ENUM FLOAT INT INT128 INTEGER INTERVAL JSON
    LIST MAP REAL SMALLINT STRUCT TEXT TIME TIMESTAMP TIMESTAMP_MS TIMESTAMP_NS TIMESTAMP_S
    TIMESTAMPTZ TIMETZ TIME_NS TINYINT UBIGINT UINT128 UINTEGER UNION USMALLINT UTINYINT UUID
    VARCHAR VARIANT
"""
# Functions and variables of what sqlglot writes in place of a call that the engine lacks.
_PRINTED = """
    ARRAY_AGG BOOL_AND BOOL_OR CHR CONCAT DATE_DIFF DATE_PART DATE_SUB DATE_TRUNC EPOCH EPOCH_MS
    EPOCH_US EXCLUDED H I IDX JSON_EXTRACT LIST_SORT LISTAGG LTRIM MAX_DEPTH MAKE_TIMESTAMP
    OCTET_LENGTH PAIR QUANTILE_CONT QUANTILE_DISC RTRIM SEG STRPTIME TRY_STRPTIME X _U
"""
# What `value_bounds` puts before a call that may make too much.
_CHECKS = """
    __CASTABLE __GATHERED __SHALLOW __STATES __TOO_LARGE __TRY_CASTABLE __WITHIN __WITHIN_UNFOLDED
"""
WORDS = frozenset(
    (
        *" ".join((_KEYWORDS, _TYPES, _PRINTED, _CHECKS)).split(),
        *(name.upper() for name in (*ALLOWED, *NAMED_KINDS)),
        *(kind.value.upper() for kind in KINDS),
        *ENGINE_UNITS.values(),
        *PARTS,
    )
)
# Functions and types that only Spark has.
SPARK_WORDS = frozenset(
    {"BINARY", "DATEDIFF", "DIV", "NAMED_STRUCT", "RLIKE", "STRING", "TIMESTAMP_NTZ"}
)
# What sqlglot names where it writes QUALIFY as a subquery.
SPARK_NAMES = frozenset(
    {"_c", "_t", "_w", *(f"{mark}_{i}" for mark in ("_c", "_w") for i in range(2, 99))}
)
# The texts that sqlglot writes in place of a call that the engine lacks.
PRINTED_TEXTS = frozenset(
    {
        *("", " ", ",", "-", "[", "]", "^", "(", ")", "([", "]+|[^", "]+)", "\\", "\\\\", "\\-"),
        *("\\^", "\\[", "\\]", " \t\n\r\f", "(?i)", "g", "i", "ig", "gi", "BLOB", "UTC", "%a"),
        *("%A", "%b", "%B", "%Y-%m-%d", "%Y ", "00:00:00", "1970-01-01", "1970-01-01 00:00:00"),
        *("$", "0", "1", "x", "0x", "5", "{:02x}", "ASC", "DESC", "NULLS FIRST", "NULLS LAST"),
        "!\"#$%&'()*+,\\\\\\-./:;<=>?@\\\\\\[\\\\\\]\\^_`{|}~",
        *PARTS,
        *(f"_{number}" for number in range(300)),
    }
)
PRINTED_NAMES = frozenset({"seg", "idx", "x", "pair", "e", "_u", "h", "a", "b", "i"})
