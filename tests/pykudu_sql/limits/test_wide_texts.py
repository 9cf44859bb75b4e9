"""Large texts are held to the memory limit: a small form of the campaign `wide_texts`."""

from pathlib import Path

import pytest

import pykudu_sql
from pykudu_sql.storage.common.memory_budget import PROCESS_BYTES
from tests.pykudu_sql.limits.wide_texts import build, measure, text

ROWS = 1_000  # 60 MB of texts
LIMIT = 64
SPARE = 192 << 20


def test_texts_larger_than_the_limit_are_read_written_and_merged_within_it(tmp_path: Path) -> None:
    build(str(tmp_path / "db"), ROWS)
    result = measure(tmp_path / "db", f"{LIMIT}MB", ROWS, "one after another")
    assert result["error"] == ""
    assert int(str(result["peak"])) <= LIMIT + (PROCESS_BYTES + SPARE >> 20)


def test_a_transaction_whose_changes_exceed_memory_is_refused_and_keeps_what_it_had() -> None:
    with pykudu_sql.connect(autocommit=True, memory_limit="64MB") as connection:
        connection.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, a STRING)")
        connection.execute("BEGIN")
        written = 0
        with pytest.raises(pykudu_sql.OperationalError, match="this transaction") as refused:
            for key in range(ROWS):
                connection.execute("INSERT INTO t VALUES (?, ?)", [key, text(key)])
                written += 1
        assert refused.value.sqlstate == "53200"
        connection.execute("COMMIT")
        assert connection.execute("SELECT count(*) FROM t").fetchall() == [(written,)]
