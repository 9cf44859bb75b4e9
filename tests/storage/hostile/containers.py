"""Containers taken apart and put together again with right checksums."""

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.block_file import (
    FORMAT_VERSION,
    BlockFile,
    FileIdentity,
    Section,
    checksum,
)
from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.cfile_writer import EncodedCFile
from pykudu_sql.storage.cfile.footer import MAGIC, CFileEntry, read_footer
from pykudu_sql.storage.cfile.positional_index import PositionalIndex
from pykudu_sql.storage.fs.env import Env

EditBytes = Callable[[bytes], bytes]
EditJson = Callable[[Any], Any]


def unchanged(value: Any) -> Any:
    """The edit that edits nothing."""
    return value


@dataclass(frozen=True)
class Column:
    """A CFile in pieces: what its footer says, and the bytes that are put in its place."""

    entry: CFileEntry
    dictionary: bytes | None
    blocks: tuple[bytes, ...]
    zone_map: bytes

    def encoded_anew(self, encoded: EncodedCFile) -> "Column":
        """The same CFile with other cells."""
        entry = replace(
            self.entry,
            encoding=encoded.encoding,
            rows=encoded.row_count,
            null_count=encoded.null_count,
            blocks=len(encoded.blocks),
        )
        zone_map = encoded.zone_map.to_bytes()
        return Column(entry, encoded.dictionary, encoded.blocks, zone_map)


@dataclass(frozen=True)
class Container:
    """A container in pieces, by name in the order written."""

    columns: dict[str, Column]
    blobs: dict[str, bytes]
    metadata: dict[str, Any]


def take_apart(env: Env, path: str, identity: FileIdentity) -> Container:
    """The pieces of a sound file."""
    file = BlockFile(env.open_random(path), identity)
    footer = read_footer(file, identity.checksum_seed())
    columns = {name: _column(file, entry) for name, entry in footer.cfiles.items()}
    blobs = {
        name: file.read(Section.BLOB, name, pointer).tobytes()
        for name, pointer in footer.blobs.items()
    }
    return Container(columns, blobs, dict(footer.metadata))


def _column(file: BlockFile, entry: CFileEntry) -> Column:
    stored = file.read(Section.INDEX, entry.name, entry.index)
    index = PositionalIndex.from_bytes(stored.data, entry.type, entry.blocks, entry.offset)
    blocks = file.read_run(
        Section.DATA, entry.name, 0, entry.offset, index.lengths, index.checksums
    )
    dictionary = entry.dictionary
    words = None
    if dictionary is not None:
        words = file.read(Section.DICTIONARY, entry.name, dictionary).tobytes()
    zone_map = stored[8 * entry.blocks :].tobytes()
    return Column(entry, words, tuple(block.tobytes() for block in blocks), zone_map)


def cells_of(env: Env, path: str, identity: FileIdentity, column: Column) -> Any:
    """All cells of a CFile of a sound file, as an Arrow array."""
    file = BlockFile(env.open_random(path), identity)
    return CFileReader(file, column.entry, BlockCache(0)).read_all()


class _Assembly:
    """Bytes of a file so far, and how pointers into them are made."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.data = bytearray(MAGIC)

    def add(self, section: Section, name: str, number: int, piece: bytes) -> list[int]:
        place = len(self.data)
        found = checksum(self.seed, section, name, number, place, piece)
        self.data += piece
        return [place, len(piece), found]


def put_together(
    container: Container,
    identity: FileIdentity,
    edit_index: EditBytes = unchanged,
    edit_footer: EditJson = unchanged,
    edited: str = "",
) -> bytes:
    """A file of the pieces, every checksum right.

    Args:
        container: the pieces.
        identity: of the file.
        edit_index: what happens to the positional index of the CFile `edited`.
        edit_footer: what happens to the footer's JSON before it is checksummed.
        edited: the name of a CFile.
    """
    assembly = _Assembly(identity.checksum_seed())
    entries: list[list[Any]] = []
    heads: dict[str, bytes] = {}
    for name, column in container.columns.items():
        words = column.dictionary
        pointer = None if words is None else assembly.add(Section.DICTIONARY, name, 0, words)
        offset = len(assembly.data)
        blocks = [
            assembly.add(Section.DATA, name, number, block)
            for number, block in enumerate(column.blocks)
        ]
        heads[name] = struct.pack(
            f"<{2 * len(blocks)}I", *(length for _, length, _ in blocks), *(c for _, _, c in blocks)
        )
        entry = replace(column.entry, offset=offset).to_json()
        entries.append([*entry[:-2], None, pointer])
    blobs = [
        [name, assembly.add(Section.BLOB, name, 0, data)] for name, data in container.blobs.items()
    ]
    for entry, (name, column) in zip(entries, container.columns.items(), strict=True):
        index = heads[name] + column.zone_map
        changed = edit_index(index) if name == edited else index
        entry[-2] = assembly.add(Section.INDEX, name, 0, changed)
    footer = edit_footer({"cfiles": entries, "blobs": blobs, "metadata": container.metadata})
    return _with_footer(assembly, json.dumps(footer, separators=(",", ":")).encode())


def _with_footer(assembly: _Assembly, body: bytes) -> bytes:
    covered = struct.pack("<III", len(body), FORMAT_VERSION, 0)
    place = len(assembly.data)
    found = checksum(assembly.seed, Section.FOOTER, "", 0, place, body + covered)
    return bytes(assembly.data) + body + covered + struct.pack("<I", found) + MAGIC
