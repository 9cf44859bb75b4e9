"""Campaigns over files: discovery, reports, and SQLite's own corpus where it is at hand."""

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

import pykudu_sql
from pykudu_sql.shell.output.terminal import Output
from pykudu_sql.shell.settings import UsageError
from pykudu_sql.shell.slt.command import Campaign, find_scripts, main
from pykudu_sql.shell.slt.database import Driver
from pykudu_sql.shell.slt.report import junit, summary
from pykudu_sql.shell.slt.states import STATES

GOOD = "query I\nSELECT 1\n----\n1\n"
BAD = "statement ok\nSELECT 1\n\nquery T\nSELECT '\x1b[2J'\n----\nother\n"
MALFORMED = "statement ok\nSELECT 1\n\nquery Z\nSELECT 1\n"


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    folder = tmp_path / "scripts"
    (folder / "sub").mkdir(parents=True)
    (folder / "b.test").write_text(GOOD)
    (folder / "sub" / "a.slt").write_text(BAD)
    (folder / "c.test").write_text(MALFORMED)
    (folder / "readme.md").write_text("not a script")
    return folder


def test_scripts_of_a_folder_are_found_in_order(scripts: Path) -> None:
    names = [path.name for path in find_scripts([scripts])]
    assert names == ["b.test", "c.test", "a.slt"]


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        list(find_scripts([tmp_path / "none"]))
    with pytest.raises(UsageError, match="no scripts"):
        list(find_scripts([tmp_path]))


def test_every_script_runs_in_every_state_and_failures_are_told(
    scripts: Path, sqlite_driver: Driver
) -> None:
    told = io.StringIO()
    states = [STATES["memory"], STATES["reopened"]]
    paths = list(find_scripts([scripts]))
    campaign = Campaign(sqlite_driver, paths, states, output=Output(told))
    campaign.run()
    assert summary(campaign.files, 1.0) == (
        "3 files in 2 states: 6 records run, 4 failed, 0 skipped in 1.00 s"
    )
    lines = told.getvalue().splitlines()
    assert f"{scripts}/c.test:4: column types are letters of I, R and T, not 'Z'" in lines
    assert f"{scripts}/sub/a.slt:4: [reopened] the result differs" in lines
    assert "    +@[2J" in lines


def test_junit_names_every_failure(scripts: Path, sqlite_driver: Driver) -> None:
    campaign = Campaign(
        sqlite_driver,
        list(find_scripts([scripts])),
        [STATES["memory"]],
        output=Output(io.StringIO()),
    )
    campaign.run()
    root = ElementTree.fromstring(junit(campaign.files, 1.0))
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == [f"{scripts}/c.test", f"{scripts}/sub/a.slt"]


def test_expectations_are_written_only_when_asked(scripts: Path, sqlite_driver: Driver) -> None:
    bad = scripts / "sub" / "a.slt"
    for override, text in ((False, BAD), (True, BAD.replace("other", "@[2J"))):
        campaign = Campaign(
            sqlite_driver,
            [bad],
            [STATES["memory"]],
            override=override,
            output=Output(io.StringIO()),
        )
        campaign.run()
        assert bad.read_text() == text


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_results_are_not_written_into_a_database(
    tmp_path: Path, link: Callable[[Path, Path], None]
) -> None:
    path = tmp_path / "my.db"
    pykudu_sql.connect(path).close()
    link(path / "CURRENT", tmp_path / "bad.test")
    before = (path / "CURRENT").read_bytes()
    with pytest.raises(UsageError, match="database"):
        main(["--override", str(tmp_path / "bad.test")])
    assert (path / "CURRENT").read_bytes() == before


def test_databases_are_kept_only_when_asked(scripts: Path, sqlite_driver: Driver) -> None:
    told = io.StringIO()
    campaign = Campaign(
        sqlite_driver,
        [scripts / "b.test"],
        [STATES["memory"]],
        keep=True,
        output=Output(told),
    )
    campaign.run()
    folder = Path(told.getvalue().rpartition(" ")[2].strip())
    assert (folder / "test.db").is_file()
    (folder / "test.db").unlink()
    folder.rmdir()


def test_sqlites_own_corpus_passes_on_sqlite(sqlite_driver: Driver) -> None:
    corpus = os.environ.get("SLT_CORPUS")
    if corpus is None:
        pytest.skip("SLT_CORPUS does not name a folder with select1.test")
    script = Path(corpus) / "select1.test"
    campaign = Campaign(sqlite_driver, [script], [STATES["memory"]], output=Output(sys.stdout))
    campaign.run()
    (file,) = campaign.files
    assert file.result is not None and not file.failed
    assert len(file.result.executed) > 1000
