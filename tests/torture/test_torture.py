"""A few faults of each campaign; `make torture` tries all of them."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.torture import self_test
from tests.torture.bits import bit_campaign
from tests.torture.campaigns import all_campaigns
from tests.torture.outcome import Outcome, Result, table
from tests.torture.progress import LINE_EVERY_SECONDS, Progress

FAULTS = 5
BITS = 250


@pytest.mark.parametrize("place", range(10))
def test_some_faults_of_each_campaign_break_no_promise(place: int) -> None:
    campaign = all_campaigns()[place]
    stride = campaign.numbers // FAULTS
    threads = threading.active_count()
    outcomes = [campaign.outcome(1 + place + stride * i) for i in range(FAULTS)]
    assert threading.active_count() <= threads
    assert not [outcome for outcome in outcomes if outcome.is_failure]
    assert any(outcome.result is Result.HELD for outcome in outcomes)


def test_some_flipped_bits_are_found_or_harmless() -> None:
    campaign = bit_campaign(lambda path: True, "bits")
    stride = campaign.numbers // BITS
    outcomes = [campaign.outcome(1 + stride * i) for i in range(BITS)]
    assert not [outcome for outcome in outcomes if outcome.is_failure]


def test_sabotage_turns_the_campaigns_red(capsys: pytest.CaptureFixture[str]) -> None:
    assert self_test.main() == 0, capsys.readouterr().out


def test_the_table_counts_only_faults_that_fired() -> None:
    text, failures = table(
        [
            Outcome("c", "1", Result.HELD),
            Outcome("c", "2", Result.NOT_FIRED),
            Outcome("c", "3", Result.LOST),
        ]
    )
    assert failures == 1
    assert text.splitlines()[1].split() == ["c", "2", "1", "0", "0", "0"]


def test_ctrl_c_ends_the_campaign_with_its_table_and_leaves_no_process() -> None:
    command = [sys.executable, "-m", "tests.torture", "--stride", "300", "--workers", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stdout is not None
        assert "0 tried" in running.stdout.readline()
        running.send_signal(signal.SIGQUIT)
        assert " tried" in running.stdout.readline()
        assert running.stdout.readline().startswith("campaign")
        running.send_signal(signal.SIGINT)
        told = running.stdout.read()
    assert running.returncode == 130
    assert "lost commits" in told
    assert not _alive_in_session(running.pid)


def _alive_in_session(session: int) -> list[str]:
    """The processes of a session that have not ended."""
    found = []
    for process in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, state = process.read_text().rpartition(") ")[::2]
            if os.getsid(int(process.parent.name)) == session and not state.startswith("Z"):
                found.append(name)
        except (ProcessLookupError, FileNotFoundError):
            continue
    return found


def test_progress_tells_how_far_it_is_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    progress = Progress(4, lambda: now)
    progress.add([Outcome("c", "1", Result.HELD), Outcome("c", "2", Result.LOST, "gone")], 2.0)
    progress.tell()
    assert capsys.readouterr().out == "c, 2: gone\n"
    now = LINE_EVERY_SECONDS
    progress.tell()
    progress.tell()
    line = f"{now:.0f} s: 2 tried (50%), 1 failures, about {now:.0f} s left\n"
    assert capsys.readouterr().out == line
    assert progress.finish() == 1
    assert capsys.readouterr().out.startswith(f"{line}campaign")
