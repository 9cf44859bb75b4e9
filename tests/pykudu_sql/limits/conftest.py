"""A table whose texts are small by themselves and large when many rows get a copy of all."""

from collections.abc import Iterator

import pytest

import pykudu_sql

ROWS = 3000
TEXT_BYTES = 100


@pytest.fixture(scope="module")
def connection() -> Iterator[pykudu_sql.Connection]:
    opened = pykudu_sql.connect(":memory:", autocommit=True, memory_limit="200MB")
    opened.execute("create table t (k int primary key, x string)")
    opened.execute(f"insert into t select range, repeat('a', {TEXT_BYTES}) from range({ROWS})")
    yield opened
    opened.close()
