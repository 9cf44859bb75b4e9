"""From a column's values to the bytes of its CFile: cut into blocks, encode, compress, summarise.

Kudu's `cfile/cfile_writer.h`, as one pure function over the whole column: it touches no file, keeps
no state and spends its time in kernels that release the interpreter lock, so columns and rowsets
encode on threads side by side. Block sizes are measured before encoding, as Kudu measures them; a
code of a dictionary counts as Kudu's four bytes.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.cfile import block, block_bounds, compression
from pykudu_sql.storage.cfile.block import MAX_RAW_BYTES, ROW_MULTIPLE
from pykudu_sql.storage.cfile.block_bounds import BlockCuts
from pykudu_sql.storage.cfile.encoding.dictionary import words_size
from pykudu_sql.storage.cfile.encoding.traits import (
    DictionaryCodec,
    DictionaryColumn,
    EncodeBinary,
    EncodeValues,
    EncodingTraits,
    Values,
)
from pykudu_sql.storage.cfile.encoding.type_encodings import BY_NAME, resolve_encoding
from pykudu_sql.storage.cfile.zone_map import ZoneMap
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import combine, fixed_view, validity
from pykudu_sql.storage.common.types.arrays import plain as without_dictionary
from pykudu_sql.storage.common.types.from_buffers import sized_values
from pykudu_sql.storage.common.types.types import Compression, DataType, Encoding, Kind
from pykudu_sql.storage.errors import InternalError, InvalidValueError, ValueTooLargeError

_CODE_BYTES = 4
_LENGTH_BYTES = 4

# The rows start <= ordinal < stop as a block: the encoding that it took, and its payload.
EncodeBlock = Callable[[int, int], tuple[EncodingTraits, bytes]]


@dataclass(frozen=True, slots=True)
class EncodedCFile:
    """A column ready to be put into a container.

    Attributes:
        encoding: of the column; single blocks may have another.
        compression: as tried on each block.
        raw_size: bytes of the values before encoding.
        blocks: their bytes.
        dictionary: the block of words, or None.
        zone_map: rows, NULLs and bounds of the blocks.
    """

    type: DataType
    encoding: Encoding
    compression: Compression
    raw_size: int
    blocks: tuple[bytes, ...]
    dictionary: bytes | None
    zone_map: ZoneMap

    @property
    def cells_lie_apart(self) -> bool:
        """Whether a cell can be read without all of its block."""
        binary = BY_NAME[self.encoding].binary if self.type.is_variable else None
        return (
            binary is not None
            and binary.read_value is not None
            and self.dictionary is None
            and self.compression is Compression.NO_COMPRESSION
        )

    @property
    def row_count(self) -> int:
        """Rows."""
        return int(self.zone_map.first_ordinals[-1])

    @property
    def null_count(self) -> int:
        """NULLs."""
        return int(self.zone_map.null_counts.sum())


def encode_column(
    column_type: DataType,
    encoding: Encoding,
    compression_kind: Compression,
    block_size: int,
    values: pa.Array | pa.ChunkedArray,
) -> EncodedCFile:
    """Encode a column.

    Args:
        encoding: one that fits the type; AUTO_ENCODING is the type's default.
        compression_kind: to try on each block, on top of the encoding.
        block_size: bytes of values in a block, before encoding.
        values: of the type's Arrow type, or for strings a dictionary array, which is not decoded.

    Raises InvalidSchemaError: the encoding does not fit the type; InvalidValueError: the values are
    of another Arrow type; ValueTooLargeError: eight neighbouring cells do not fit a block of
    `MAX_RAW_BYTES`.
    """
    array = combine(values)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if kind != column_type.arrow:
        raise InvalidValueError(f"a column of type {column_type} cannot hold Arrow's {array.type}")
    encoder = _ColumnEncoder(
        column_type,
        resolve_encoding(column_type, encoding),
        compression.resolve(compression_kind),
        min(block_size, MAX_RAW_BYTES),
    )
    if not column_type.is_variable:
        return encoder.encode_fixed(without_dictionary(array))
    codec = encoder.encoding.codes
    if codec is not None:
        column = codec.build(array, column_type.arrow, encoder.block_size)
        if column is not None:
            return encoder.encode_codes(codec, column, validity(array))
    return encoder.encode_strings(without_dictionary(array))


@dataclass(frozen=True, slots=True)
class _ColumnEncoder:
    """The settings of one column, resolved; see `encode_column`."""

    type: DataType
    encoding: EncodingTraits
    compression: Compression
    block_size: int

    def encode_fixed(self, array: pa.Array) -> EncodedCFile:
        """Numbers and BOOL."""
        valid = validity(array)
        values = fixed_view(array, self.type)
        if valid is not None:
            values = np.where(valid if values.ndim == 1 else valid[:, None], values, 0).astype(
                values.dtype, copy=False
            )
        cuts = BlockCuts.of(_even_cuts(len(array), self.block_size // self.type.width), valid)
        zone_map = block_bounds.fixed_zone_map(values, self.type, cuts)
        encode_block = self._fixed_block_encoder(values, cuts.first_block_rows)
        return self._assemble(cuts, zone_map, self.encoding, encode_block, values.nbytes)

    def _fixed_block_encoder(self, values: Values, sample: int) -> EncodeBlock:
        """The first of the encoding and its fallbacks that pays for a block."""
        if self.type.kind is Kind.BOOL:
            values = values.view(np.uint8)
        encoders = [(one, self._encode_values(one, values[:sample])) for one in self._attempts()]

        def encode_block(start: int, stop: int) -> tuple[EncodingTraits, bytes]:
            for encoding, encode in encoders:
                payload = encode(values[start:stop])
                if payload is not None:
                    return encoding, payload
            raise InternalError(f"no encoding of {self.encoding} takes values of {self.type}")

        return encode_block

    def _attempts(self) -> Sequence[EncodingTraits]:
        fallback = next((one for one in self.encoding.fallback if one.fits(self.type)), None)
        return (self.encoding,) if fallback is None else (self.encoding, fallback)

    def _encode_values(self, encoding: EncodingTraits, sample: Values) -> EncodeValues:
        if self.type.kind is Kind.BOOL and encoding.boolean is not None:
            return encoding.boolean.encode
        if encoding.fixed is not None:
            return encoding.fixed.encoder(sample)
        raise InternalError(f"encoding {encoding} has no kernel for values of {self.type}")

    def _binary_encoding(self) -> tuple[EncodingTraits, EncodeBinary]:
        """The first of the encoding and its fallbacks that takes values as they are."""
        for one in self._attempts():
            if one.binary is not None:
                return one, one.binary.encode
        raise InternalError(f"encoding {self.encoding} has no kernel for values of {self.type}")

    def encode_codes(
        self, codec: DictionaryCodec, column: DictionaryColumn, valid: npt.NDArray[np.bool_] | None
    ) -> EncodedCFile:
        """Strings and binaries as codes of a dictionary."""
        codes = column.codes
        cuts = BlockCuts.of(_even_cuts(len(codes), self.block_size // _CODE_BYTES), valid)
        zone_map = block_bounds.code_zone_map(codes, column.words, self.type, cuts)

        def encode_block(start: int, stop: int) -> tuple[EncodingTraits, bytes]:
            return self.encoding, codec.encode(codes[start:stop])

        offsets, data = _offsets_and_bytes(column.words)
        spelling, encode = self._binary_encoding()
        words = block.pack(
            spelling,
            self.compression,
            len(column.words),
            None,
            self._encode_binary(encode, offsets, data),
        )
        raw_size = codes.nbytes + words_size(column.words)
        return self._assemble(
            cuts, zone_map, self.encoding, encode_block, raw_size, dictionary_block=words
        )

    def encode_strings(self, array: pa.Array) -> EncodedCFile:
        """Strings and binaries as they are."""
        # Filling drops the bytes that NULL slots may still point at.
        empty = sized_values([b""], array.type)[0]
        offsets, data = _offsets_and_bytes(
            pc.fill_null(array, empty) if array.null_count else array
        )
        cuts = BlockCuts.of(self._byte_cuts(offsets), validity(array))
        zone_map = block_bounds.string_zone_map(array, self.type, cuts)

        # A dictionary that was wanted and did not fit leaves the values as they are.
        used, encode = self._binary_encoding()

        def encode_block(start: int, stop: int) -> tuple[EncodingTraits, bytes]:
            return used, self._encode_binary(encode, offsets[start : stop + 1], data)

        raw_size = int(offsets[-1] - offsets[0]) + _LENGTH_BYTES * len(array)
        return self._assemble(cuts, zone_map, used, encode_block, raw_size)

    def _encode_binary(
        self, encode: EncodeBinary, offsets: npt.NDArray[np.int32], data: npt.NDArray[np.uint8]
    ) -> bytes:
        """The values between neighbouring offsets into `data`."""
        part = data[int(offsets[0]) : int(offsets[-1])]
        uncompressed = self.compression is Compression.NO_COMPRESSION
        return encode(np.diff(offsets).view(np.uint32), part, compressed=uncompressed)

    def _byte_cuts(self, offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Blocks of at most the block size, or of the eight rows that must be."""
        rows = len(offsets) - 1
        marks = np.append(np.arange(0, rows, ROW_MULTIPLE), rows)
        before = offsets[marks].astype(np.int64) + _LENGTH_BYTES * marks
        firsts = [0]
        mark = 0
        while mark < len(marks) - 1:
            fitting = int(before.searchsorted(before[mark] + self.block_size, "right")) - 1
            mark_after = max(fitting, mark + 1)
            size = int(before[mark_after] - before[mark])
            if size > MAX_RAW_BYTES:
                raise ValueTooLargeError(
                    f"rows {marks[mark]} to {marks[mark_after]} hold {size} bytes, "
                    f"more than the {MAX_RAW_BYTES} bytes of a block"
                )
            mark = mark_after
            firsts.append(int(marks[mark]))
        return np.array(firsts, np.int64)

    def _assemble(
        self,
        cuts: BlockCuts,
        zone_map: ZoneMap,
        encoding: EncodingTraits,
        encode_block: EncodeBlock,
        raw_size: int,
        dictionary_block: bytes | None = None,
    ) -> EncodedCFile:
        blocks = []
        for start, stop in cuts.blocks():
            valid = cuts.validity_of(start, stop)
            bitmap = None if valid is None else np.packbits(valid, bitorder="little")
            used, payload = encode_block(start, stop)
            blocks.append(block.pack(used, self.compression, stop - start, bitmap, payload))
        return EncodedCFile(
            type=self.type,
            encoding=encoding.name,
            compression=self.compression,
            raw_size=raw_size,
            blocks=tuple(blocks),
            dictionary=dictionary_block,
            zone_map=zone_map,
        )


def _even_cuts(rows: int, rows_per_block: int) -> npt.NDArray[np.int64]:
    """First ordinals of blocks of one size, and behind them the number of rows."""
    step = max(ROW_MULTIPLE, rows_per_block // ROW_MULTIPLE * ROW_MULTIPLE)
    return np.append(np.arange(0, rows, step, dtype=np.int64), np.int64(rows))


def _offsets_and_bytes(array: pa.Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Strings or binaries without NULL as n + 1 offsets into their bytes."""
    _, offset_buffer, data = array.buffers()
    if len(array) == 0 or data is None:
        return np.zeros(len(array) + 1, np.int32), np.empty(0, np.uint8)
    offsets = np.frombuffer(offset_buffer, np.int32, len(array) + 1, 4 * array.offset)
    return offsets, np.frombuffer(data, np.uint8)
