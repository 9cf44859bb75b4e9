"""Whatever befell a file, its rows are loaded, or what is wrong is said with its place.

`python -m tests.pykudu_sql.file_mutations --files 2000` tries many more.
"""

from pathlib import Path
from random import Random

from tests.pykudu_sql.file_mutations.judging import run_campaign


def test_mutated_files_end_in_their_rows_or_errors_and_rejects_of_ours(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    report = run_campaign(Random(1), 60, tmp_path / "files")
    assert report.failures == []
    assert report.outcomes.keys() == {"rows", "rejects", "error"}
