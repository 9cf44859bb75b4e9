"""One cell of a block of strings or binaries in no codes, without Arrow and without keeping it.

`locate_cells` finds all cells of a block that stores their bytes as they are, `locate_equal` those
of one length. `read_cell` reads one where it lies in a block that is only reached through its
pages, which takes that the block is not compressed as a whole and that its encoding can.
`decode_cell` decodes all of a block for it.
"""

import numpy as np

from pykudu_sql.storage.cfile.block import (
    HEADER_BYTES,
    MAX_RAW_BYTES,
    Block,
    BlockHeader,
    bitmap_length,
)
from pykudu_sql.storage.cfile.block_decoder import fitting
from pykudu_sql.storage.cfile.encoding.traits import ReadPart, ReadValue
from pykudu_sql.storage.cfile.in_place.stored_cells import StoredCells
from pykudu_sql.storage.common.types.types import Cell, Compression, DataType
from pykudu_sql.storage.errors import CorruptionError


def value_reader(header: BlockHeader, column_type: DataType) -> ReadValue | None:
    """What reads single values of a block in their place, None where nothing does.

    Raises CorruptionError: a block of the type cannot be encoded so.
    """
    if header.compression is not Compression.NO_COMPRESSION:
        return None
    return fitting(header.encoding.binary, header.encoding, column_type).read_value


def read_cell(
    read: ReadPart,
    length: int,
    header: BlockHeader,
    read_value: ReadValue,
    column_type: DataType,
    slot: int,
) -> Cell:
    """One cell of a block that there is a `value_reader` of.

    Args:
        read: the bytes of the block between two places.
        length: of the block.
        header: of the block.
        read_value: see `value_reader`.
        column_type: of the column.
        slot: 0 .. rows - 1.

    Raises CorruptionError: what is read for it contradicts the header.
    """
    start = _body_of(length, header)
    if header.has_validity:
        place = start + (slot >> 3)
        if not read(place, place + 1)[0] >> (slot & 7) & 1:
            return None
        start += bitmap_length(header.rows)
    return cell_of(read_value(read, start, length, header.rows, slot), column_type)


def locate_cells(
    read: ReadPart,
    length: int,
    header: BlockHeader,
    column_type: DataType,
) -> StoredCells | None:
    """Where the cells of a block lie; None where they are compressed, or of no such encoding.

    `read`, `length`, `header`, `column_type`: see `read_cell`. Raises CorruptionError: what is read
    for it contradicts the header, or a block of the type cannot be encoded so.
    """
    codec = fitting(header.encoding.binary, header.encoding, column_type)
    if header.compression is not Compression.NO_COMPRESSION or codec.locate_values is None:
        return None
    start = _body_of(length, header)
    validity = None
    if header.has_validity:
        validity = read(start, start + bitmap_length(header.rows))
        start += len(validity)
    places = codec.locate_values(read, start, length, header.rows)
    return None if places is None else StoredCells.of(places, validity)


def locate_equal(
    read: ReadPart,
    length: int,
    header: BlockHeader,
    column_type: DataType,
) -> tuple[int, int] | None:
    """Where the first cell of a block begins, and the bytes of each.

    None where lengths differ, a slot is NULL, or they are compressed. Arguments and errors are
    those of `locate_cells`.
    """
    codec = fitting(header.encoding.binary, header.encoding, column_type)
    if header.has_validity or header.compression is not Compression.NO_COMPRESSION:
        return None
    if codec.locate_equal is None:
        return None
    return codec.locate_equal(read, _body_of(length, header), length, header.rows)


def _body_of(length: int, header: BlockHeader) -> int:
    """Where the body begins of a block that is not compressed as a whole."""
    if length != HEADER_BYTES + header.body_length:
        raise CorruptionError(f"a block of {length} bytes claims {header.body_length}")
    return HEADER_BYTES


def decode_cell(block: Block, column_type: DataType, slot: int) -> Cell:
    """One cell of a block, all of which is decoded.

    `slot`: 0 .. rows - 1. Raises CorruptionError: what is read for it contradicts the header.
    """
    if block.validity is not None and not block.validity[slot >> 3] >> (slot & 7) & 1:
        return None
    codec = fitting(block.encoding.binary, block.encoding, column_type)
    opened = codec.open_block(block.payload, block.rows, MAX_RAW_BYTES)
    lengths = np.empty(block.rows, np.uint32)
    data = np.empty(opened.data_length, np.uint8)
    opened.decode_into(lengths, data)
    start = int(lengths[:slot].sum(dtype=np.uint64))
    return cell_of(data[start : start + int(lengths[slot])].tobytes(), column_type)


def cell_of(raw: bytes, column_type: DataType) -> Cell:
    """The cell of a value's bytes. Raises CorruptionError: text is not UTF-8."""
    return text_of(raw) if column_type.is_text else raw


def text_of(raw: bytes) -> str:
    """The text of its bytes. Raises CorruptionError: they are not UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise CorruptionError(f"text is not UTF-8: {error}") from error
