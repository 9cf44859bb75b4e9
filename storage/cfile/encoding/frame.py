"""BIT_SHUFFLE of narrowed integers: a frame of reference, and how far in it each value lies.

    0       1   1, which no chunk begins with (see `bitshuffle`)
    1       1   bytes of a code: 1, 2 or 4
    2       2   zero
    4       8   base, i64
    12      8   step, u64
    20      .   codes, unsigned, bit-shuffled chunk

A value is base + step * code. Kudu narrows blocks of uint32 whose maximum permits it
(`cfile/bshuf_block.h`); taking off the minimum and the greatest common divisor lets the same pay
for keys of a rowset, days of a year and prices in whole units. Codes are half to an eighth as wide
as values, so there is less for Blosc to rearrange, both ways.
"""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile.encoding import bitshuffle
from pykudu_sql.storage.cfile.encoding.bitshuffle import Shuffle
from pykudu_sql.storage.cfile.encoding.traits import (
    Bounds,
    Bytes,
    EncodeValues,
    EncodingTraits,
    FixedCodec,
    Values,
)
from pykudu_sql.storage.common.types.from_buffers import new_buffer
from pykudu_sql.storage.common.types.types import DataType, Encoding, Kind
from pykudu_sql.storage.errors import CorruptionError

_HEADER = struct.Struct("<BBHqQ")
_FORM = 1
_CODE_TYPES: Mapping[int, np.dtype[Any]] = {
    1: np.dtype("<u1"),
    2: np.dtype("<u2"),
    4: np.dtype("<u4"),
}
# The header has to pay.
_MIN_VALUES = 64
_SAMPLE_VALUES = 64
# Codes that are widened together: of more, the first leave the processor's cache before they are.
_MOST_CODE_BYTES = 1 << 21


@dataclass(frozen=True, slots=True)
class FrameOfReference:
    """Integers as codes within a frame.

    Attributes:
        base, step: a value is base + step * code.
        codes: unsigned integers narrower than the values, shape (n,).
    """

    base: int
    step: int
    codes: npt.NDArray[Any]


def narrow(values: npt.NDArray[Any]) -> FrameOfReference | None:
    """The values as narrower codes, or None when they are too few or too far apart.

    `values`: of any type, shape (n,) or, for 16-byte values, (n, 2).
    """
    if values.dtype.kind != "i" or values.itemsize == 1 or len(values) < _MIN_VALUES:
        return None
    base, top = int(values.min()), int(values.max())
    unsigned: np.dtype[Any] = np.dtype(f"<u{values.itemsize}")
    # Unsigned arithmetic wraps, so the distance is right even across the whole range of the type.
    distances = values.view(unsigned) - unsigned.type(base % (1 << 8 * values.itemsize))
    kind = _code_type(top - base)
    if kind is not None:
        distances = distances.astype(kind, copy=False)
    step = int(np.gcd.reduce(distances[:: len(values) // _SAMPLE_VALUES]))
    if step > 1:
        multiples = distances // distances.dtype.type(step)
        if bool((multiples * distances.dtype.type(step) == distances).all()):
            kind = _code_type((top - base) // step)
            return _frame(base, step, multiples, kind, values)
    return _frame(base, 1, distances, kind, values)


def _frame(
    base: int,
    step: int,
    codes: npt.NDArray[Any],
    kind: np.dtype[Any] | None,
    values: npt.NDArray[Any],
) -> FrameOfReference | None:
    if kind is None or kind.itemsize >= values.itemsize:
        return None
    return FrameOfReference(base, step, codes.astype(kind, copy=False))


def _code_type(largest: int) -> np.dtype[Any] | None:
    """The narrowest type of codes up to `largest`, None when there is none."""
    for width, kind in _CODE_TYPES.items():
        if largest < 1 << 8 * width:
            return kind
    return None


def encode(values: npt.NDArray[Any], shuffle: Shuffle) -> bytes:
    """Pack values, narrowed where that is possible.

    `values`: as for `narrow`, at least one; `shuffle`: see `choose_shuffle`.
    """
    frame = narrow(values)
    if frame is None:
        return bitshuffle.compress(values, shuffle)
    header = _HEADER.pack(_FORM, frame.codes.itemsize, 0, frame.base, frame.step)
    return header + bitshuffle.compress(frame.codes, shuffle)


def choose_shuffle(sample: npt.NDArray[Any]) -> Shuffle:
    """The rearrangement for values like the sample; see `bitshuffle.choose_shuffle`."""
    frame = narrow(sample)
    return bitshuffle.choose_shuffle(sample if frame is None else frame.codes)


@dataclass(frozen=True, slots=True)
class _Header:
    """The header of a frame, found sound for values of a type.

    `kind`: of the codes; `base`, `step`: as of `FrameOfReference`.
    """

    kind: np.dtype[Any]
    base: int
    step: int

    @property
    def bounds(self) -> Bounds:
        """What the least and the greatest code of the type stand for."""
        return self.base, self.base + self.step * ((1 << 8 * self.kind.itemsize) - 1)


def _unpack_codes(payloads: Sequence[Bytes], codes: npt.NDArray[Any]) -> None:
    """Write the codes of frames; of `codes` a row is a frame."""
    chunks = [payload[_HEADER.size :] for payload in payloads]
    memory = codes.reshape(-1).view(np.uint8)
    bitshuffle.decompress_run_into(chunks, [len(memory) // len(chunks)] * len(chunks), memory)


def _widen(headers: Sequence[_Header], codes: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
    """Write the values that codes stand for; of both a row is a frame."""
    _write_values(headers, codes, out, lambda numbers: numbers[:, np.newaxis])


def _widen_some(
    headers: Sequence[_Header],
    lengths: Sequence[int],
    codes: npt.NDArray[Any],
    out: npt.NDArray[Any],
) -> None:
    """Write the values that codes stand for, so many of each frame, one after the other."""
    first = headers[0]
    if all(header.base == first.base and header.step == first.step for header in headers):
        _widen((first,), codes[np.newaxis], out[np.newaxis])
    else:
        _write_values(headers, codes, out, lambda numbers: numbers.repeat(lengths))


def _write_values(
    headers: Sequence[_Header],
    codes: npt.NDArray[Any],
    out: npt.NDArray[Any],
    for_each: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
) -> None:
    """Write the values that codes stand for. `for_each`: a number of each frame, for its codes."""
    # Unsigned, so that a sum below zero comes out right.
    kind: np.dtype[Any] = np.dtype(f"<u{out.itemsize}")
    unsigned, modulus = out.view(kind), 1 << 8 * out.itemsize
    # To widen and then multiply takes NumPy half as long as a product of another type.
    unsigned[:] = codes
    if any(header.step != 1 for header in headers):
        unsigned *= for_each(np.array([header.step for header in headers], kind))
    if any(header.base for header in headers):
        unsigned += for_each(np.array([header.base % modulus for header in headers], kind))


def _header(payload: Bytes, values: np.dtype[Any]) -> _Header | None:
    """The header of a frame for values of a type; None of a chunk without one.

    Raises CorruptionError: it can be no such frame.
    """
    if len(payload) < _HEADER.size or payload[0] != _FORM or values.kind != "i":
        return None
    _, width, zero, base, step = _HEADER.unpack_from(payload.data)
    kind, highest = _CODE_TYPES.get(width), (1 << 8 * values.itemsize - 1) - 1
    if kind is None or zero or width >= values.itemsize:
        raise CorruptionError(f"a frame has codes of {width} bytes for values of {values.itemsize}")
    if not -highest - 1 <= base <= highest or not 0 < step < 1 << 8 * values.itemsize:
        raise CorruptionError(f"a frame of base {base} and step {step} for {values} values")
    return _Header(kind, base, step)


def decode_into(payload: Bytes, out: npt.NDArray[Any]) -> None:
    """Unpack what `encode` made into exactly the memory given.

    `payload`: a frame or a chunk; `out`: contiguous and writable, of the values' own type. Raises
    CorruptionError: it is neither, or holds another number of values.
    """
    decode_run_into((payload,), (len(out),), out)


def decode_run_into(
    payloads: Sequence[Bytes], counts: Sequence[int], out: npt.NDArray[Any]
) -> Bounds | None:
    """Unpack what `encode` made of one block after the other, as `decode_into` does each of them.

    Frames with codes of one type are widened together: one call of numpy for many blocks costs less
    than one for each, and threads wait for each other once instead of for each.

    `counts`: values of each payload, together as many as `out` holds. Gives the least and the
    greatest value that headers permit, None where one does not tell. Raises CorruptionError: see
    `decode_into`.
    """
    headers = [_header(payload, out.dtype) for payload in payloads]
    first = position = 0
    while first < len(payloads):
        count, frames = counts[first], _frames_alike(headers, counts, first)
        if frames:
            stop, end = first + len(frames), position + count * len(frames)
            kind = frames[0].kind
            _, memory = new_buffer(len(frames) * count * kind.itemsize)
            codes = memory.view(kind).reshape(len(frames), count)
            _unpack_codes(payloads[first:stop], codes)
            _widen(frames, codes, out[position:end].reshape(codes.shape))
        else:
            stop = first + 1
            while stop < len(headers) and headers[stop] is None:
                stop += 1
            end = position + sum(counts[first:stop])
            lengths = [out.itemsize * count for count in counts[first:stop]]
            chunks = payloads[first:stop]
            bitshuffle.decompress_run_into(chunks, lengths, out[position:end].view(np.uint8))
        first, position = stop, end
    return _bounds_of_all(headers)


def _bounds_of_all(headers: Sequence[_Header | None]) -> Bounds | None:
    """Between which values those of all frames lie; None where one is not told."""
    frame_bounds = [header.bounds for header in headers if header is not None]
    if len(frame_bounds) < len(headers):
        return None
    return min(least for least, _ in frame_bounds), max(top for _, top in frame_bounds)


def _frames_alike(
    headers: Sequence[_Header | None], counts: Sequence[int], first: int
) -> list[_Header]:
    """The frames from one on, as many as have as many codes of the same type as that one has."""
    count, alike = counts[first], list[_Header]()
    for number in range(first, len(headers)):
        header = headers[number]
        if header is None or counts[number] != count:
            break
        if alike and header.kind is not alike[0].kind:
            break
        if alike and (len(alike) + 1) * count * header.kind.itemsize > _MOST_CODE_BYTES:
            break
        alike.append(header)
    return alike


def spans_with_positions(edges: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring blocks with positions, as first <= number < stop.

    `edges`: how many positions lie before each block, and behind the last.
    """
    first = 0
    for number in range(len(edges)):
        if number + 1 == len(edges) or edges[number] == edges[number + 1]:
            if first < number:
                yield first, number
            first = number + 1


def take_run_into(
    payloads: Sequence[Bytes], counts: Sequence[int], positions: Values, out: Values
) -> Bounds | None:
    """Unpack some values of what `encode` made of one block after the other, and widen only these.

    Frames are taken from together as `decode_run_into` decodes them. A payload of which nothing is
    wanted is not unpacked.

    Args:
        payloads, counts: see `decode_run_into`.
        positions: of the values wanted among those of all payloads, ascending, at least one.
        out: contiguous and writable, of the values' own type, as many as positions.

    Gives the bounds that headers permit, see `decode_run_into`. Raises CorruptionError: see
    `decode_into`.
    """
    headers = [_header(payload, out.dtype) for payload in payloads]
    starts = [0, *accumulate(counts)]
    edges = positions.searchsorted(np.array(starts)).tolist()
    first = 0
    while first < len(payloads):
        count, frames = counts[first], _frames_alike(headers, counts, first)
        stop = first + max(1, len(frames))
        begin, end = edges[first], edges[stop]
        places, part = positions[begin:end] - starts[first], out[begin:end]
        if begin < end and frames:
            lengths = [edges[n + 1] - edges[n] for n in range(first, stop)]
            codes = np.empty((len(frames), count), frames[0].kind)
            for low, high in spans_with_positions(edges[first : stop + 1]):
                _unpack_codes(payloads[first + low : first + high], codes[low:high])
            _widen_some(frames, lengths, codes.reshape(-1).take(places, mode="clip"), part)
        elif begin < end:
            values = np.empty(count, out.dtype)
            bitshuffle.decompress_into(payloads[first], values.view(np.uint8))
            values.take(places, out=part, mode="clip")
        first = stop
    return _bounds_of_all(headers)


def encoder(sample: Values) -> EncodeValues:
    """What encodes the blocks of a column whose first block is the sample."""
    shuffle = choose_shuffle(sample) if len(sample) else Shuffle.BITS
    return lambda values: encode(values, shuffle)


def _fits(column_type: DataType) -> bool:
    return not column_type.is_variable and column_type.kind is not Kind.BOOL


BIT_SHUFFLE = EncodingTraits(
    name=Encoding("BIT_SHUFFLE"),
    tag=2,
    fits=_fits,
    aliases=("BITSHUFFLE",),
    fixed=FixedCodec(encoder, decode_into, decode_run_into, take_run_into),
)
