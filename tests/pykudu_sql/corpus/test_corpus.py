"""SQLite's corpus gets SQLite's answers, but for the departures that are listed."""

from pathlib import Path

import pytest

from pykudu_sql.shell.slt.records import Failure, RecordSource, StatementRecord, Success
from pykudu_sql.shell.slt.report import describe
from pykudu_sql.shell.slt.states import STATES
from tests.pykudu_sql.corpus.departures import DEPARTURES, depart
from tests.pykudu_sql.corpus.running import MISSING, WHOLE, Sample, run_script, scripts

CONFORMANCE = Path(__file__).resolve().parents[3] / "docs" / "conformance.md"
_SMALL = 50 * 1024  # scripts up to so many bytes run whole
_PART = Sample(every=150, others=800)


@pytest.mark.skipif(not scripts(), reason=MISSING)
@pytest.mark.parametrize("script", scripts(), ids=lambda path: path.stem)
def test_a_script_of_the_corpus_gets_its_answers(script: Path, tmp_path: Path) -> None:
    part = WHOLE if script.stat().st_size <= _SMALL else _PART
    file = run_script(script, STATES["memory"], tmp_path, part)
    told = "\n".join(describe(file))
    assert not told, f"\n{told}"
    assert file.result is not None and file.result.executed


def test_what_departs_is_expected_to_fail_and_replaced() -> None:
    source = RecordSource(1, 2)
    given = StatementRecord(source, "CREATE UNIQUE INDEX i ON t (a)", Success())
    refused, instead = depart([given])
    assert refused == StatementRecord(
        source, given.sql, Failure("", "unique indexes are not supported")
    )
    assert instead == StatementRecord(source, "CREATE INDEX i ON t (a)", Success())


def test_every_departure_is_explained_to_people() -> None:
    text = CONFORMANCE.read_text(encoding="utf-8")
    missing = [departure.title for departure in DEPARTURES if f"| {departure.title} |" not in text]
    assert missing == []
