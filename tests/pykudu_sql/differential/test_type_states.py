"""Every type in every state of its rows answers as DuckDB does.

A column is read by other code where its rows are in memory, on disk, changed in memory over those
on disk, or rewritten; and by other code for each width, encoding and kind. So all kinds of reads
are tried for each type in each of these states, as a cell and as a key.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence

import duckdb
import pytest

import pykudu_sql

TYPES: Mapping[str, Sequence[str]] = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-128", "127", "0", "5"],
    "SMALLINT": ["-32768", "32767", "7"],
    "INT": ["-2147483648", "2147483647", "3", "-1"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807", "12", "-3"],
    "FLOAT": ["1.5", "-2.25", "0.0", "1048576.5"],
    "DOUBLE": ["1.5", "-2.25", "0.0", "1e300", "-1e-300"],
    "DECIMAL(4,1)": ["1.5", "-99.9", "999.9"],
    "DECIMAL(9,3)": ["1.500", "-99999.999", "3.25"],
    "DECIMAL(15,2)": ["1.50", "-9999999999999.99", "42.00"],
    "DECIMAL(18,0)": ["1", "-999999999999999999", "7"],
    "DECIMAL(30,4)": ["1.5", "-99999999999999999999999999.9999", "0.0001"],
    "DATE": ["DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '1970-01-01'", "DATE '2024-02-29'"],
    "TIMESTAMP": [
        "TIMESTAMP '0001-01-01 00:00:00'",
        "TIMESTAMP '9999-12-31 23:59:59.999999'",
        "TIMESTAMP '2024-02-29 12:34:56.789'",
    ],
    "STRING": ["''", "'a'", "'ab'", "'\N{LATIN SMALL LETTER U WITH DIAERESIS}'", "'x y z' || 9.5"],
    "VARCHAR(5)": ["''", "'a'", "'abcde'", "'\N{LATIN SMALL LETTER SHARP S}'"],
    "BINARY": ["''::BLOB", "'a'::BLOB", "'\\x00\\xFF'::BLOB"],
}
NO_KEYS = ("BOOLEAN", "FLOAT", "DOUBLE")
ENCODINGS = ("PLAIN_ENCODING", "DICT_ENCODING", "RLE", "BIT_SHUFFLE", "PREFIX_ENCODING", "DELTA")
READS = """
SELECT min(c), max(c), count(*) FROM t
SELECT min(c), count(c) FROM t
SELECT c, count(*) FROM t GROUP BY c
SELECT DISTINCT c FROM t
SELECT k, c FROM t ORDER BY c, k LIMIT 3
SELECT k, c FROM t ORDER BY c DESC NULLS LAST, k LIMIT 3
SELECT k FROM t WHERE c = {v}
SELECT k FROM t WHERE c <> {v}
SELECT k FROM t WHERE c > {v}
SELECT k FROM t WHERE c <= {v}
SELECT k FROM t WHERE c IN ({v}, {w})
SELECT k FROM t WHERE c NOT IN ({v}, {w})
SELECT k FROM t WHERE c BETWEEN {v} AND {w}
SELECT k FROM t WHERE c IS NULL
SELECT count(*) FROM t WHERE c IS NOT NULL
SELECT k FROM t WHERE c IS DISTINCT FROM {v}
SELECT k FROM t WHERE c = (SELECT max(c) FROM t)
SELECT k FROM t WHERE c IN (SELECT min(c) FROM t GROUP BY g)
SELECT a.k, b.k FROM t a JOIN t b ON a.c = b.c
SELECT g, min(c), max(c), count(DISTINCT c) FROM t GROUP BY g
SELECT k, lag(c) OVER (ORDER BY k), first_value(c) OVER (PARTITION BY g ORDER BY k) FROM t
SELECT k, rank() OVER (ORDER BY c) FROM t
SELECT coalesce(c, {v}), nullif(c, {v}), k FROM t
SELECT CASE WHEN c = {v} THEN 1 WHEN c IS NULL THEN 2 ELSE 3 END x, count(*) FROM t GROUP BY x
SELECT k, c::VARCHAR FROM t
SELECT list(c ORDER BY k) FROM t
SELECT greatest(c, {v}), least(c, {w}), k FROM t
SELECT count(*) FROM t WHERE c > {v} AND g = 1
SELECT max(c) FROM t WHERE g = 1
SELECT k, c FROM t WHERE k = 3
SELECT k, c FROM t WHERE k IN (1, 4, 9, 33)
""".strip().splitlines()
READS_BY_KEY = """
SELECT min(p), max(p), count(*) FROM u
SELECT p, v FROM u WHERE p = {v}
SELECT p, v FROM u WHERE p >= {v}
SELECT p, v FROM u WHERE p IN ({v}, {w})
SELECT p FROM u ORDER BY p DESC, q LIMIT 2
SELECT p, count(*), min(q), max(v) FROM u GROUP BY p
SELECT u.q, t.k FROM u JOIN t ON u.p = t.c
SELECT * FROM u WHERE p = {v} AND q > 2
SELECT * FROM u WHERE p > {v} ORDER BY p, q LIMIT 3
SELECT * FROM u WHERE p = {v} AND q = 4
""".strip().splitlines()
WRITES = """
UPDATE t SET c = {v} WHERE k % 7 = 1
UPDATE t SET c = NULL WHERE k % 9 = 2
UPDATE t SET c = {v} WHERE c = {w}
""".strip().splitlines()
WRITES_BY_KEY = """
UPDATE u SET v = q WHERE p = {v}
INSERT INTO u VALUES ({w}, 4, 70) ON CONFLICT (p, q) DO UPDATE SET v = excluded.v + 1
""".strip().splitlines()
DELETES = "DELETE FROM t WHERE c = {v} AND k > 20"
DELETES_BY_KEY = "DELETE FROM u WHERE q = 3 OR p = {v}"
ROWS = 40


class _Pair:
    """A database of ours and one of DuckDB, with the same tables."""

    def __init__(self, sql_type: str, chance: random.Random) -> None:
        self._values = TYPES[sql_type]
        self._chance = chance
        self.ours = pykudu_sql.connect(":memory:", autocommit=True)
        self.theirs = duckdb.connect()
        self.has_keys = sql_type not in NO_KEYS
        self._create(sql_type)
        for k in range(1, ROWS + 1):
            self.do(f"INSERT INTO t VALUES ({k}, {self._cell()}, {k % 3})")
        for q in range(30 if self.has_keys else 0):
            self.do(f"INSERT INTO u VALUES ({chance.choice(self._values)}, {q}, {q})")

    def _create(self, sql_type: str) -> None:
        theirs = {"STRING": "VARCHAR", "BINARY": "BLOB"}.get(sql_type, sql_type)
        encoding = self._chance.choice(ENCODINGS)
        partitions = self._chance.choice(["", " PARTITION BY HASH (k) PARTITIONS 3"])
        table = f"CREATE TABLE t (k INT PRIMARY KEY, c {sql_type} {{}}, g INT){partitions}"
        try:
            self.ours.execute(table.format(f"ENCODING {encoding}"))
        except pykudu_sql.Error:  # the type has no such encoding
            self.ours.execute(table.format(""))
        self.theirs.execute(f"CREATE TABLE t (k INT PRIMARY KEY, c {theirs}, g INT)")
        if self.has_keys:
            keyed = "CREATE TABLE u (p {}, q INT, v INT, PRIMARY KEY (p, q))"
            self.ours.execute(keyed.format(sql_type) + " PARTITION BY HASH (p) PARTITIONS 2")
            self.theirs.execute(keyed.format(theirs))

    def _cell(self) -> str:
        return "NULL" if self._chance.random() < 0.2 else self._chance.choice(self._values)

    def do(self, template: str) -> None:
        """Write the same to both."""
        sql = self.filled(template)
        self.ours.execute(sql)
        self.theirs.execute(sql)

    def filled(self, template: str) -> str:
        """A statement about values of the type."""
        first, second = self._chance.choice(self._values), self._chance.choice(self._values)
        return template.replace("{v}", first).replace("{w}", second)

    def upkeep(self, statement: str) -> None:
        """Flush or rewrite our tables."""
        for table in ("t", "u") if self.has_keys else ("t",):
            self.ours.execute(statement.format(table))

    def differences(self) -> Iterator[tuple[str, object, object]]:
        """The reads that the two answer differently."""
        for template in (*READS, *(READS_BY_KEY if self.has_keys else ())):
            sql = self.filled(template)
            ours = [_shown(row) for row in self.ours.execute(sql).fetchall()]
            theirs = [_shown(row) for row in self.theirs.execute(sql).fetchall()]
            if "LIMIT" not in sql:
                ours, theirs = sorted(ours), sorted(theirs)
            if ours != theirs:
                yield sql, ours, theirs

    def change(self) -> None:
        """Change rows of both."""
        for template in (*WRITES, *(WRITES_BY_KEY if self.has_keys else ())):
            self.do(template)

    def delete(self) -> None:
        """Delete rows of both."""
        for template in (DELETES, *([DELETES_BY_KEY] if self.has_keys else [])):
            self.do(template)


def _shown(value: object) -> str:
    """A value as text, the same for values that are equal."""
    match value:
        case float():
            return "nan" if math.isnan(value) else repr(value + 0.0)
        case list() | tuple():
            return str([_shown(each) for each in value])
    return repr(value)


@pytest.mark.parametrize("sql_type", TYPES)
def test_reads_of_a_type_are_those_of_duckdb_in_every_state(sql_type: str) -> None:
    pair = _Pair(sql_type, random.Random(sql_type))
    with pair.ours:
        assert list(pair.differences()) == []
        pair.upkeep("FLUSH TABLE {}")
        assert list(pair.differences()) == []
        pair.change()
        assert list(pair.differences()) == []
        pair.delete()
        assert list(pair.differences()) == []
        pair.upkeep("OPTIMIZE TABLE {}")
        pair.change()
        assert list(pair.differences()) == []
        pair.upkeep("OPTIMIZE TABLE {} FULL")
        assert list(pair.differences()) == []
