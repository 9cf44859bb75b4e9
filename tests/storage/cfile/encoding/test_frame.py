"""Integers in a frame of reference: when codes are narrower, and frames that contradict values."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pykudu_sql.storage.cfile.encoding import frame
from pykudu_sql.storage.errors import CorruptionError


def test_values_with_a_common_step_become_narrow_codes() -> None:
    narrowed = frame.narrow(np.arange(100, dtype=np.int64) * 1000 - 5)
    assert narrowed is not None
    assert (narrowed.base, narrowed.step, narrowed.codes.dtype) == (-5, 1000, np.uint8)
    assert narrowed.codes.tolist() == list(range(100))


def test_a_step_that_only_the_sample_has_is_not_taken() -> None:
    values = np.arange(6400, dtype=np.int64) * 10
    values[1] += 1  # not among the sampled ones
    narrowed = frame.narrow(values)
    assert narrowed is not None
    assert narrowed.step == 1


@pytest.mark.parametrize(
    "values",
    [
        np.arange(10, dtype=np.int64),
        np.arange(100, dtype=np.int8),
        np.arange(100, dtype=np.float64),
        np.linspace(-(1 << 62), 1 << 62, 100).astype(np.int64) | 1,
    ],
    ids=["few", "narrow", "floats", "far apart"],
)
def test_values_that_a_frame_does_not_narrow_stay_as_they_are(values: np.ndarray) -> None:
    assert frame.narrow(values) is None


def test_the_whole_range_of_a_type_comes_back() -> None:
    values = np.tile(np.array([-(1 << 31), (1 << 31) - 1], np.int32), 50)
    payload = np.frombuffer(frame.encode(values, frame.choose_shuffle(values)), np.uint8)
    out = np.empty_like(values)
    frame.decode_into(payload, out)
    assert out.tolist() == values.tolist()


@pytest.mark.parametrize(("offset", "byte"), [(1, 3), (1, 8), (2, 1), (12, 0)])
def test_a_frame_that_contradicts_its_values_is_damage(offset: int, byte: int) -> None:
    values = np.arange(100, dtype=np.int64)
    payload = np.frombuffer(frame.encode(values, frame.choose_shuffle(values)), np.uint8).copy()
    payload[offset] = byte
    with pytest.raises(CorruptionError):
        frame.decode_into(payload, np.empty_like(values))


def _encoded(values: np.ndarray) -> np.ndarray:
    return np.frombuffer(frame.encode(values, frame.choose_shuffle(values)), np.uint8)


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
def test_neighbouring_payloads_come_out_together_as_each_by_itself(kind: type) -> None:
    limits, ascending = np.iinfo(kind), np.arange(128, dtype=kind)
    parts = [
        ascending,
        ascending + 7,
        ascending[:64] - 100,
        limits.max - ascending,
        np.array([limits.min, limits.max] * 64, kind),
        ascending * 250 + limits.min,
        ascending * 7 - 3,
        ascending[:5],
    ]
    payloads, counts = [_encoded(part) for part in parts], [len(part) for part in parts]
    out = np.empty(sum(counts), kind)
    assert frame.decode_run_into(payloads, counts, out) is None
    assert out.tolist() == np.concatenate(parts).tolist()


def test_frames_of_one_width_are_unpacked_in_as_many_steps_as_memory_bounds_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    widened: list[int] = []
    widen = frame._widen

    def counted(headers: Sequence[Any], codes: np.ndarray, out: np.ndarray) -> None:
        widened.append(len(headers))
        widen(headers, codes, out)

    monkeypatch.setattr(frame, "_widen", counted)
    values = np.arange(32768, dtype=np.int64) % 200
    payload = _encoded(values)
    out = np.empty(len(values) * 80, np.int64)
    bounds = frame.decode_run_into([payload] * 80, [len(values)] * 80, out)
    assert out.tolist() == np.tile(values, 80).tolist()
    assert widened == [64, 16]
    assert bounds == (0, 255)


def test_the_work_of_a_run_grows_with_its_blocks_also_where_none_has_a_frame() -> None:
    class Counted(list[int]):
        accesses = 0

        def __getitem__(self, key: Any) -> Any:
            entry = super().__getitem__(key)
            self.accesses += len(entry) if isinstance(key, slice) else 1
            return entry

    values = np.random.default_rng(5).random(8)
    counts, out = Counted([len(values)] * 500), np.empty(len(values) * 500)
    assert frame.decode_run_into([_encoded(values)] * 500, counts, out) is None
    assert out.tolist() == np.tile(values, 500).tolist()
    assert counts.accesses <= 3 * 500


def test_the_bounds_of_a_run_are_those_of_all_its_frames() -> None:
    low, high = np.arange(100, dtype=np.int32) - 1000, np.arange(100, dtype=np.int32) * 3
    bounds = frame.decode_run_into(
        [_encoded(low), _encoded(high)], [100, 100], np.empty(200, np.int32)
    )
    assert bounds == (-1000, 3 * 255)


@pytest.mark.parametrize("damaged", range(3))
def test_damage_in_any_payload_of_a_run_is_found(damaged: int) -> None:
    values = np.arange(100, dtype=np.int64)
    payloads = [_encoded(values).copy() for _ in range(3)]
    payloads[damaged][20 + 4] ^= 1
    with pytest.raises(CorruptionError):
        frame.decode_run_into(payloads, [100] * 3, np.empty(300, np.int64))
