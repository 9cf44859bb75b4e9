"""A few faults of each campaign; `make torture` tries all of them."""

import pytest

from tests.torture import self_test
from tests.torture.bits import bit_campaign
from tests.torture.campaigns import all_campaigns
from tests.torture.outcome import Outcome, Result, table

FAULTS = 5
BITS = 250


@pytest.mark.parametrize("place", range(10))
def test_some_faults_of_each_campaign_break_no_promise(place: int) -> None:
    campaign = all_campaigns()[place]
    stride = campaign.numbers // FAULTS
    outcomes = [campaign.outcome(1 + place + stride * i) for i in range(FAULTS)]
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
