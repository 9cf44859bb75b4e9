"""The line of a job, and bytes of files, of which some are gone or may not be looked at."""

import os
from pathlib import Path

import pytest

from pykudu_sql.jobs.report import JobReport, size_of


def test_files_below_a_folder_are_summed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c").write_bytes(b"45")
    assert (size_of(tmp_path), size_of(tmp_path / "a"), size_of(tmp_path / "none")) == (5, 3, 0)


def test_a_file_that_cannot_be_looked_at_counts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"123")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "torn").write_bytes(b"1")
    look = os.stat

    def refusing(path, *rest, **options):  # type: ignore[no-untyped-def]
        if str(path).endswith("torn"):
            raise OSError(5, "Input/output error")
        return look(path, *rest, **options)

    monkeypatch.setattr(os, "stat", refusing)
    assert size_of(tmp_path) == 3


def test_the_line_of_a_job_tells_rows_only_where_they_were_counted() -> None:
    loaded = JobReport(2_000, 59, 0.5, rejected=1, note="here", reasons="1 broken line")
    assert loaded.text() == (
        "here: 2,000 rows, 59 bytes in 0.5 s (4,000 rows/s), 1 rejected (1 broken line)"
    )
    assert JobReport(0, 59, 0.5).text() == "0 rows, 59 bytes in 0.5 s"
    assert JobReport(1, 59, 0.5).text() == "1 row, 59 bytes in 0.5 s (2 rows/s)"
    assert JobReport(1, 1, 1.0).text() == "1 row, 1 byte in 1.0 s (1 row/s)"
    assert JobReport(2, 59, 5.0).text() == "2 rows, 59 bytes in 5.0 s"
    assert JobReport(None, 59, 0.5, note="4 files").text() == "4 files: 59 bytes in 0.5 s"
