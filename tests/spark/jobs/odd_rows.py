"""Random files of rows of which some fit a table, some do not, and some are no rows."""

import datetime as dt
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ALL_TYPES = (
    ("id", "BIGINT"), ("a", "BOOLEAN"), ("b", "TINYINT"), ("c", "SMALLINT"), ("d", "INT"),
    ("e", "FLOAT"), ("f", "DOUBLE"), ("g", "DECIMAL(5,2)"), ("h", "DECIMAL(38,38)"),
    ("j", "DATE"), ("k", "TIMESTAMP"), ("l", "STRING"), ("m", "VARCHAR(3)"), ("n", "BINARY"),
)  # fmt: skip
RANGED = (("p", "DECIMAL(5,2)"), ("q", "TINYINT"), ("day", "DATE"), ("v", "DOUBLE"))
TABLES: Mapping[str, tuple[Sequence[tuple[str, str]], str, str]] = {
    "all": (
        ALL_TYPES,
        "CREATE TABLE t (id BIGINT PRIMARY KEY, a BOOLEAN, b TINYINT, c SMALLINT NOT NULL "
        "DEFAULT 7, d INT CHECK (d < 1000000), e FLOAT, f DOUBLE, g DECIMAL(5,2), "
        "h DECIMAL(38,38), j DATE, k TIMESTAMP, l STRING DEFAULT 'x', m VARCHAR(3), n BINARY)",
        "INSERT INTO t (id, l) VALUES (1, 'a'), (2, 'b'), (7, 'c')",
    ),
    "ranged": (
        RANGED,
        "CREATE TABLE t (p DECIMAL(5,2), q TINYINT, day DATE, v DOUBLE NOT NULL, "
        "PRIMARY KEY (p, q)) PARTITION BY HASH (q) PARTITIONS 2, RANGE (p) "
        "(PARTITION -10 <= VALUES < 10.5, PARTITION 11 <= VALUES < 100)",
        "INSERT INTO t VALUES (1, 1, NULL, 1), (1.5, 0, NULL, 1)",
    ),
}
GOOD: Mapping[str, Sequence[str]] = {
    "number": ("0", "1", "-1", "7", "50", "127"),
    "fraction": ("1", "1.5", "9.99", "-1.25", "10.5", "0.25"),
    "BOOLEAN": ("true", "false"),
    "DATE": ("2026-01-05", "2024-02-29"),
    "TIMESTAMP": ("2026-01-01 00:00:00", "2026-01-01T12:34:56.789012"),
    "text": ("a", "bc", "é", "\\x00ff"),
}
ODD: Mapping[str, Sequence[str]] = {
    "number": (
        "x", "1.0", "1.5", "1e2", "+1", "007", " 5 ", "1_000", "1,000", "0x10", "NaN", "-inf",
        "Infinity", "true", "NULL", "128", "32768", "9223372036854775808", "1e400", "1e-400", "1.",
        ".5", "1.2345", "1.230", "999.995", "1" * 39, "0." + "0" * 38 + "1", "--1", "1d", "1f",
        "1L", "\u0661", "16777217", "9007199254740993", "3.5e38", "0e0", "1.5" + "0" * 40,
    ),
    "BOOLEAN": ("TRUE", "t", "F", "yes", "n", "1", "0", "on", "2", " true ", "-1", "1.0"),
    "DATE": (
        "2026-1-5", "2026-02-30", "2026", "20260105", "01/05/2026", "2026-01-05 00:00:00",
        "2026-01-05 10:00:00", "2026-01-05T", "2026-01-05Z", "0000-01-01", "10000-01-01",
        "99999-01-01", "epoch", "now", "infinity", " 2026-01-05 ", "1500-02-29", "1582-10-10",
    ),
    "TIMESTAMP": (
        "2026-01-01", "2026-01-01 1:2:3", "2026-01-01 01", "2026-01-01 25:00:00",
        "2026-01-01 23:59:60", "2026-01-01 00:00:00.1234567", "2026-01-01 00:00:00.1234560",
        "2026-01-01 00:00:00+02:00", "2026-01-01 00:00:00 UTC", "2026-01-01 00:00:00,5",
        "12:00:00", "2026-01-01 00:00:00.", "20260101T000000", "2026-1-1 00:00:00", "epoch",
    ),
    "text": ("", "NULL", "abcd", "😀😀😀😀", 'a"b', "a,b", "a\nb", "\\xzz", "\u2028", " ", "[1]"),
}  # fmt: skip
BROKEN_CSV = ("{},zz", "{}\n,", '{}"', 'a"b,{}', "{}\n\n", "{}\n  ", "lone")
BROKEN_JSON = ('{"id": 1,', "[1]", "5", "null", "{} x", "", '{"id": 1, "id": 2}', '{"zz": 1}')


@dataclass(frozen=True, slots=True)
class OddFiles:
    """Files of one format for a table, all of the same seed.

    Attributes:
        paths: of the files.
        table: a statement that makes the table.
        rows: another that fills it.
    """

    paths: Sequence[str]
    table: str
    rows: str


def make_odd_files(folder: Path, file_format: str, seed: int, table: str, keys: int) -> OddFiles:
    """Two files of rows. `table`: of `TABLES`; `keys`: how many columns they have, 0 for all."""
    chance = random.Random(seed)
    columns, made, filled = TABLES[table]
    used = columns[:keys] if keys else columns
    paths = []
    for number in range(2):
        path = folder / f"in{number}.{file_format}"
        if file_format == "parquet":
            pq.write_table(_typed(chance, used), path, row_group_size=40)
        else:
            text = _csv if file_format == "csv" else _json
            path.write_text(text(chance, used), encoding="utf-8")
        paths.append(str(path))
    return OddFiles(paths, made, filled)


def _family(kind: str) -> str:
    if kind in ("BOOLEAN", "DATE", "TIMESTAMP"):
        return kind
    if kind.startswith(("STRING", "VARCHAR", "BINARY")):
        return "text"
    return "fraction" if kind.startswith(("DECIMAL", "FLOAT", "DOUBLE")) else "number"


def _cell(chance: random.Random, kind: str) -> str | None:
    family, draw = _family(kind), chance.random()
    if draw < 0.03:
        return None
    if draw > 0.12:
        return chance.choice(GOOD[family]) if kind != "BIGINT" else str(chance.randrange(60))
    return chance.choice(ODD["number" if family == "fraction" else family])


def _csv(chance: random.Random, columns: Sequence[tuple[str, str]]) -> str:
    lines = [",".join(name for name, _ in columns)]
    for _ in range(120):
        cells = [_cell(chance, kind) for _, kind in columns]
        line = ",".join(map(_csv_cell, cells))
        broken = chance.random() < 0.04
        lines.append(chance.choice(BROKEN_CSV).replace("{}", line) if broken else line)
    return "\n".join(lines) + chance.choice(("", "\n"))


def _csv_cell(value: str | None) -> str:
    if value is None:
        return ""
    quoted = not value or any(one in value for one in '",\n')
    return '"' + value.replace('"', '""') + '"' if quoted else value


def _json(chance: random.Random, columns: Sequence[tuple[str, str]]) -> str:
    lines = []
    for _ in range(120):
        values = {name: _cell(chance, kind) for name, kind in columns if chance.random() < 0.95}
        parts = [f'"{name}": {_json_value(chance, value)}' for name, value in values.items()]
        broken = chance.random() < 0.05
        lines.append(chance.choice(BROKEN_JSON) if broken else "{" + ", ".join(parts) + "}")
    return "\n".join(lines) + "\n"


def _json_value(chance: random.Random, value: str | None) -> str:
    if chance.random() < 0.02:
        return chance.choice(('[1, "x"]', '{"a": 1}', "true", "1.5"))
    as_text = json.dumps(value, ensure_ascii=chance.random() < 0.5)
    if value is None or not value[:1].isdigit() or chance.random() < 0.3:
        return as_text
    try:
        json.loads(value)
    except ValueError:
        return as_text
    return value


def _typed(chance: random.Random, columns: Sequence[tuple[str, str]]) -> pa.Table:
    moment = dt.datetime(2026, 1, 5)
    later = dt.datetime(2026, 1, 5, 1)
    of_family: Mapping[str, Sequence[tuple[pa.DataType, Sequence[object]]]] = {
        "number": (
            (pa.int64(), (0, 1, 5, 127, 128, 2**31, -(2**63))),
            (pa.float64(), (1.0, 2.0, 2.5, float("nan"), float("inf"), 1e19)),
            (pa.decimal128(22, 2), (Decimal("1.00"), Decimal("2.50"), Decimal(7))),
        ),
        "fraction": (
            (pa.float64(), (0.5, 1.005, 999.996, 1e300, float("nan"))),
            (pa.decimal128(10, 4), (Decimal("1.2345"), Decimal("1.23"), Decimal("999.9999"))),
            (pa.int64(), (1, 999, 1000, 2**53 + 1)),
        ),
        "BOOLEAN": ((pa.bool_(), (True, False)),),
        "DATE": ((pa.date32(), (dt.date(1, 1, 1), dt.date(2026, 1, 5))),
                 (pa.timestamp("us"), (moment, later))),
        "TIMESTAMP": ((pa.timestamp("us", "UTC"), (moment, later)), (pa.date32(), (moment,))),
        "text": ((pa.string(), ("a", "bcde", "é", "")),),
    }  # fmt: skip
    arrays = {}
    for name, kind in columns:
        types = of_family[_family(kind)]
        if kind == "BINARY":
            types = ((pa.binary(), (b"", b"\xff")),)
        if kind == "BIGINT":
            types = ((pa.int64(), range(100)),)
        arrow_type, values = chance.choice(types)
        cells = [chance.choice(values) if chance.random() > 0.05 else None for _ in range(100)]
        arrays[name] = pa.array(cells, arrow_type)
    return pa.table(arrays)
