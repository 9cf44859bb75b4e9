"""Large texts are held to the memory limit: a small form of the campaign `wide_texts`."""

from pathlib import Path

import pytest

from pykudu_sql.storage.common.memory_budget import PROCESS_BYTES
from tests.pykudu_sql.wide_texts import build, measure

ROWS = 3_000  # 180 MB of texts, which took 500 MB and more above the limit
LIMIT = 128
SPARE = 192 << 20


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of large texts."""
    path = tmp_path_factory.mktemp("wide") / "db"
    build(str(path), ROWS, f"{LIMIT}MB")
    return path


@pytest.mark.parametrize("operation", ["scan changed", "update", "optimize full"])
def test_texts_larger_than_the_limit_are_read_written_and_merged_within_it(
    database: Path, operation: str
) -> None:
    result = measure(database, f"{LIMIT}MB", ROWS, operation)
    assert result["error"] == ""
    assert int(str(result["peak"])) <= LIMIT + (PROCESS_BYTES + SPARE >> 20)
