"""Large texts are held to the memory limit: a small form of the campaign `wide_texts`."""

from pathlib import Path

from pykudu_sql.storage.common.memory_budget import PROCESS_BYTES
from tests.pykudu_sql.wide_texts import build, measure

ROWS = 1_000  # 60 MB of texts
LIMIT = 64
SPARE = 192 << 20


def test_texts_larger_than_the_limit_are_read_written_and_merged_within_it(tmp_path: Path) -> None:
    build(str(tmp_path / "db"), ROWS)
    result = measure(tmp_path / "db", f"{LIMIT}MB", ROWS, "one after another")
    assert result["error"] == ""
    assert int(str(result["peak"])) <= LIMIT + (PROCESS_BYTES + SPARE >> 20)
