"""The traits of an encoding: Kudu's `TypeEncodingTraits` (`cfile/type_encodings.cc`).

An encoding is one module of this room, which ends in its traits, and one line of `type_encodings`.
Its kernels take the values of one block in the layout of the column's type:

- *fixed*: numbers, shape (n,), or (n, 2) words where a value has 16 bytes;
- *boolean*: bytes 0 and 1, decoded to a bitmap;
- *binary*: lengths, and the values' bytes one after the other;
- *codes*: of a dictionary that the whole CFile shares.

Decoders write exactly the memory they are given, or raise CorruptionError.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.common.types.types import DataType, Encoding

Bytes = npt.NDArray[np.uint8]
Values = npt.NDArray[Any]
Lengths = npt.NDArray[np.uint32]
# The least and the greatest value.
Bounds = tuple[int, int]

# The encoded values of a block, or None when the encoding does not pay for them.
EncodeValues = Callable[[Values], bytes | None]
# The values of the runs of a block of so many rows of a numpy type, and their lengths.
DecodeRuns = Callable[[Bytes, int, np.dtype[Any]], tuple[Values, Lengths]]


# The bytes start <= position < stop of a block, checked like all that is read.
ReadPart = Callable[[int, int], bytes]
# One value of a payload that lies between two places of a block and holds so many values, by its
# place among them.
ReadValue = Callable[[ReadPart, int, int, int, int], bytes]


@dataclass(frozen=True, slots=True)
class FixedCodec:
    """Numbers of one width.

    Attributes:
        encoder: from the values of a column's first block to what encodes each of its blocks.
        decode_into: writes the values of a payload; of 16-byte values, their bytes.
        decode_run_into: writes the values of payloads of so many values each, one after the other,
            and gives between which all of them lie, None where no header tells; None where it is no
            faster than to decode each.
        take_run_into: writes those of these values that stand at given places among all of them,
            int64 and ascending, and gives the bounds; None where all have to be decoded for that.
    """

    encoder: Callable[[Values], EncodeValues]
    decode_into: Callable[[Bytes, Values], None]
    decode_run_into: Callable[[Sequence[Bytes], Sequence[int], Values], Bounds | None] | None = None
    take_run_into: (
        Callable[[Sequence[Bytes], Sequence[int], Values, Values], Bounds | None] | None
    ) = None


@dataclass(frozen=True, slots=True)
class BooleanCodec:
    """Truth values.

    `encode`: takes a byte a value; `decode_into`: writes the bitmap of so many rows.
    """

    encode: EncodeValues
    decode_into: Callable[[Bytes, int, Bytes], None]


@dataclass(frozen=True, slots=True)
class ValuePlaces:
    """Where the values of a block lie whose bytes are stored one value after the other.

    Attributes:
        start: place in the block at which the first value begins.
        ends: where each value ends, counted from there; ascending.
        own_bytes: memory of `ends`, 0 where other blocks share it.
    """

    start: int
    ends: memoryview
    own_bytes: int


LocateValues = Callable[[ReadPart, int, int, int], ValuePlaces | None]
# Place of the first value in the block, and the length of each, by the same arguments.
LocateEqual = Callable[[ReadPart, int, int, int], tuple[int, int] | None]


class EncodedBinary(Protocol):
    """A block of binary values whose header has been read."""

    @property
    def data_length(self) -> int:
        """Bytes of all values together."""

    def decode_into(self, lengths: Lengths, data: Bytes) -> None:
        """Write the lengths and the bytes of all values.

        Raises CorruptionError: they do not agree.
        """


class EncodeBinary(Protocol):
    """Encodes values given as lengths and one run of bytes."""

    def __call__(self, lengths: Lengths, data: Bytes, *, compressed: bool) -> bytes: ...


@dataclass(frozen=True, slots=True)
class BinaryCodec:
    """Strings and binaries.

    Attributes:
        encode: see there; `compressed` is False when the block is compressed afterwards.
        open_block: reads the header of so many values, of at most so many bytes together.
        read_value: see there; it reads no more than the value takes. None where all is decoded.
        locate_values: finds all values of a payload that lies between two places of a block and
            holds so many; gives None where their bytes are compressed.
        locate_equal: the same where they are of one length; gives None where they are not.
    """

    encode: EncodeBinary
    open_block: Callable[[Bytes, int, int], EncodedBinary]
    read_value: ReadValue | None = None
    locate_values: LocateValues | None = None
    locate_equal: LocateEqual | None = None


@dataclass(frozen=True, slots=True)
class DictionaryColumn:
    """A column in codes.

    Attributes:
        codes: signed integers, shape (n,), 0 where the slot is NULL.
        words: the dictionary, distinct and ascending, without NULL.
    """

    codes: Values
    words: pa.Array


@dataclass(frozen=True, slots=True)
class DictionaryCodec:
    """Codes of a dictionary, which is a block of its own in the encoding's fallback.

    Attributes:
        build: a column of words of an Arrow type in codes, or None when they do not fit so many
            bytes.
        encode: the codes of a block.
        code_type: of the codes of so many words.
        decode_run_into: writes the bytes of the codes of neighbouring blocks, so many of each.
    """

    build: Callable[[pa.Array, pa.DataType, int], DictionaryColumn | None]
    encode: Callable[[Values], bytes]
    code_type: Callable[[int], np.dtype[Any]]
    decode_run_into: Callable[[Sequence[Bytes], Sequence[int], Bytes], None]


@dataclass(frozen=True, slots=True, eq=False)
class EncodingTraits:
    """An entry of the table of encodings.

    Attributes:
        name: in schemas, footers and SQL.
        tag: in the header of a block.
        fits: whether a column of a type can have it.
        aliases: other names in SQL.
        feature: the bit that says in a container that a reader must know the encoding; 0 for those
            that every release knows.
        fallback: what a block takes for which it does not pay; the first that fits the type.
        fixed, boolean, binary, codes: its kernels, for each layout that a type it fits has.
        decode_runs: where predicates can be evaluated on runs instead of on values.
    """

    name: Encoding
    tag: int
    fits: Callable[[DataType], bool]
    aliases: tuple[str, ...] = ()
    feature: int = 0
    fallback: "tuple[EncodingTraits, ...]" = ()
    fixed: FixedCodec | None = None
    boolean: BooleanCodec | None = None
    binary: BinaryCodec | None = None
    codes: DictionaryCodec | None = None
    decode_runs: DecodeRuns | None = None

    def __str__(self) -> str:
        return self.name
