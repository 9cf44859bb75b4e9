"""The manifest names a time ahead of every timestamp that was handed out."""

from typing import Any

from pykudu_sql.storage.commit.timestamp_reserve import AHEAD_MICROS, TimestampReserve
from pykudu_sql.storage.common.types.hybrid_time import from_micros
from pykudu_sql.storage.errors import DiskError

START = 1_700_000_000_000_000


def test_timestamps_within_the_reserve_cost_no_further_edit() -> None:
    edits: list[dict[str, Any]] = []
    reserve = TimestampReserve(edits.append)
    for micros in (START, START + 1, START + AHEAD_MICROS - 2):
        reserve.cover(from_micros(micros))
    assert [edit["op"] for edit in edits] == ["reserve"]
    assert edits[0]["until"] > from_micros(START + AHEAD_MICROS - 2)


def test_a_timestamp_beyond_the_reserve_moves_it_on() -> None:
    edits: list[dict[str, Any]] = []
    reserve = TimestampReserve(edits.append)
    reserve.cover(from_micros(START))
    reserve.cover(from_micros(START + 2 * AHEAD_MICROS))
    assert len(edits) == 2
    assert edits[1]["until"] > from_micros(START + 2 * AHEAD_MICROS)


def test_a_manifest_that_refuses_hinders_no_reader_and_is_asked_again() -> None:
    calls: list[dict[str, Any]] = []

    def refuse(edit: dict[str, Any]) -> None:
        calls.append(edit)
        raise DiskError("full")

    reserve = TimestampReserve(refuse)
    reserve.cover(from_micros(START))
    reserve.cover(from_micros(START))
    assert len(calls) == 2
