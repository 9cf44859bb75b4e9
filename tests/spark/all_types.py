"""A column of each type, and a row with values that are easily changed on their way."""

import datetime as dt
from decimal import Decimal

COLUMNS_OF_ALL_TYPES = (
    "id BIGINT PRIMARY KEY, a BOOLEAN, b TINYINT, c SMALLINT, d INT, e FLOAT, f DOUBLE, "
    "g DECIMAL(5,2), h DECIMAL(15,3), i DECIMAL(38,10), j DATE, k TIMESTAMP, l STRING, "
    "m VARCHAR(5), n BINARY"
)
ROW_OF_ALL_TYPES = (
    1, True, -128, -32768, -(2**31), 0.5, -0.1, Decimal("-999.99"), Decimal("123456789012.345"),
    Decimal("-9999999999999999999999999999.9999999999"), dt.date(1, 1, 1),
    dt.datetime(1812, 6, 24, 5, 6, 7, 8), "a\0b", "äöü", b"\x00\xff",
)  # fmt: skip
