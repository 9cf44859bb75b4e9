"""Random faults of the disk at any moment: who looks sees what was acknowledged, and no more."""

import pytest

from tests.storage.faults.random_faults import play


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_what_is_seen_is_what_commits_were_said_to_be(first: int) -> None:
    for seed in range(first, first + 10):
        play(seed)
