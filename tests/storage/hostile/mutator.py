"""One hostile change of a database, by its number: lengths, counts, offsets, codes, runs, cells,
footers, zone maps, bloom filters, key indexes, manifest edits and commits, checksums made right.
"""

import json
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pykudu_sql.storage.cfile import block, compression
from pykudu_sql.storage.cfile.block_file import FileIdentity
from pykudu_sql.storage.cfile.cfile_writer import encode_column
from pykudu_sql.storage.cfile.encoding import bitshuffle
from pykudu_sql.storage.common.types.arrays import array_to_cells, cells_to_array
from pykudu_sql.storage.common.types.types import Cell, Compression, DataType, Encoding
from pykudu_sql.storage.fs.memory_env import MemoryEnv
from pykudu_sql.storage.log.record_log import LogIdentity, LogKind
from tests.storage.hostile import containers, logs
from tests.storage.hostile.containers import Column, Container
from tests.storage.hostile.sample import Files, disk_of
from tests.storage.hostile.values import damage_bytes, damage_json, integer

_BLOCK_HEAD = struct.Struct("<BBBBII")
_CODECS = {0: Compression.NO_COMPRESSION} | {
    tag: kind for kind, tag in block.COMPRESSION_TAGS.items()
}


@dataclass(frozen=True)
class Mutation:
    """A file exchanged for a hostile one.

    Attributes:
        path: which.
        what: the kind of change, for people.
        data: the new bytes.
    """

    path: str
    what: str
    data: bytes


class Mutator:
    """Makes mutations of one database."""

    def __init__(self, files: Files) -> None:
        self._env: MemoryEnv = disk_of(files)
        self._files = files
        self._database_id = b""
        self._logs: dict[str, tuple[LogIdentity, list[bytes]]] = {}
        self._containers: dict[str, tuple[FileIdentity, Container]] = {}
        for path in files:
            self._take_apart(path)

    def _take_apart(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        stem, _, suffix = name.partition(".")
        if suffix == "log":
            kind = LogKind(folder.rpartition("/")[2])
            self._logs[path] = logs.take_apart(self._env, path, kind, int(stem))
            self._database_id = self._logs[path][0].database_id

    def mutation(self, number: int) -> Mutation:
        """The mutation of a number, always the same one."""
        rng = random.Random(number)
        paths = [path for path in self._files if not path.endswith("/LOCK")]
        # Logs are few and hold much, so they come as often as all containers.
        often = [path for path in paths if path in self._logs or path.endswith("CURRENT")]
        path = rng.choice(often if rng.random() < 0.4 else paths)
        if path in self._logs:
            return self._log(rng, path)
        if path.endswith("/DURABLE"):
            return Mutation(path, "note", damage_bytes(rng, self._files[path]))
        if path.endswith("CURRENT"):
            lines = self._files[path].rpartition(b"crc32c")[0]
            return Mutation(path, "text", logs.with_checksum(damage_bytes(rng, lines)))
        return self._container(rng, path)

    def _log(self, rng: random.Random, path: str) -> Mutation:
        identity, payloads = self._logs[path]
        if rng.random() < 0.1 or not any(payloads):
            if rng.random() < 0.5:
                odd = replace(identity, number=integer(rng, identity.number) % (1 << 64))
            else:
                first = integer(rng, identity.first_sequence) % (1 << 64)
                odd = replace(identity, first_sequence=first)
            return Mutation(path, "header", logs.put_together(odd, payloads))
        chosen = rng.randrange(len(payloads))
        payload = payloads[chosen]
        if identity.kind is LogKind.WAL or rng.random() < 0.05:
            payload, what = damage_bytes(rng, payload, 200), "record"
        else:
            payload = json.dumps(damage_json(rng, json.loads(payload)), sort_keys=True).encode()
            what = "edit"
        altered = [*payloads[:chosen], payload, *payloads[chosen + 1 :]]
        return Mutation(path, f"{what} {chosen}", logs.put_together(identity, altered))

    def opened(self, path: str) -> tuple[FileIdentity, Container]:
        """A container in pieces, and what its checksums cover besides."""
        if path not in self._containers:
            folder, _, name = path.rpartition("/")
            number, _, kind = name.partition(".")
            tablet = folder.rpartition("/")[2]
            identity = FileIdentity(self._database_id, tablet, kind, int(number))
            opened = containers.take_apart(self._env, path, identity)
            self._containers[path] = identity, opened
        return self._containers[path]

    def _container(self, rng: random.Random, path: str) -> Mutation:
        identity, container = self.opened(path)
        name = rng.choice(list(container.columns))
        column = container.columns[name]
        kinds: list[Callable[[], tuple[str, bytes]]] = [
            lambda: self._with_column(
                path, name, "blocks", _damage_block(rng, column, rng.randrange(len(column.blocks)))
            ),
            lambda: self._with_column(path, name, "cells", self._cells(rng, path, column)),
            lambda: (
                f"index of {name}",
                containers.put_together(
                    container, identity, edit_index=lambda b: damage_bytes(rng, b), edited=name
                ),
            ),
            lambda: (
                "footer",
                containers.put_together(
                    container, identity, edit_footer=lambda v: damage_json(rng, v)
                ),
            ),
        ]
        if column.dictionary is not None:
            words = _damage_packed(rng, column.dictionary)
            kinds.append(
                lambda: self._with_column(
                    path, name, "dictionary", replace(column, dictionary=words)
                )
            )
        if container.blobs:
            kinds.append(lambda: self._with_blob(rng, path))
        what, data = rng.choice([kinds[0], *kinds])()
        return Mutation(path, what, data)

    def _with_column(self, path: str, name: str, what: str, column: Column) -> tuple[str, bytes]:
        identity, container = self.opened(path)
        changed = replace(container, columns=container.columns | {name: column})
        return f"{what} of {name}", containers.put_together(changed, identity)

    def _with_blob(self, rng: random.Random, path: str) -> tuple[str, bytes]:
        identity, container = self.opened(path)
        name = rng.choice(list(container.blobs))
        blobs = container.blobs | {name: damage_bytes(rng, container.blobs[name], 24)}
        return f"blob {name}", containers.put_together(replace(container, blobs=blobs), identity)

    def _cells(self, rng: random.Random, path: str, column: Column) -> Column:
        identity, _ = self.opened(path)
        kind = column.entry.type
        cells = array_to_cells(containers.cells_of(self._env, path, identity, column), kind)
        for _ in range(rng.choice((1, 1, 2, 5))):
            _damage_cells(rng, cells, kind)
        encoding = rng.choice((column.entry.encoding, Encoding("AUTO_ENCODING")))
        packed = column.entry.compression
        return column.encoded_anew(
            encode_column(kind, encoding, packed, 512, cells_to_array(cells, kind))
        )


def _damage_cells(rng: random.Random, cells: list[Cell], kind: DataType) -> None:
    place = rng.randrange(len(cells))
    match rng.randrange(6):
        case 0:
            cells[place] = None
        case 1:
            del cells[place:]
            cells.append(None)
        case 2:
            cells.insert(place, cells[place])
        case 3:
            other = rng.randrange(len(cells))
            cells[place], cells[other] = cells[other], cells[place]
        case _:
            cells[place] = _other_cell(rng, cells[place], kind)


def _other_cell(rng: random.Random, cell: Cell, kind: DataType) -> Cell:
    if kind.is_text:
        return rng.choice(("", "\0", "z" * 300, "key/00000", "é"))
    limits = kind.integer_range
    if limits is None:
        return cell
    # Of the physical type, so that days outside the calendar occur.
    bits = 8 * kind.width if kind.width < 16 else 127
    low = -(1 << (bits - 1))
    near = cell if isinstance(cell, int) else 0
    if kind.width == 16:
        return max(limits[0], min(limits[1], integer(rng, near)))
    return (integer(rng, near) - low) % (1 << bits) + low


def _damage_block(rng: random.Random, column: Column, number: int) -> Column:
    blocks = list(column.blocks)
    blocks[number] = _damage_packed(rng, blocks[number])
    if rng.random() < 0.05:
        blocks.insert(number, blocks[number])
    return replace(column, blocks=tuple(blocks))


def _damage_packed(rng: random.Random, data: bytes) -> bytes:
    """A block with its header, its body or the content of one of its chunks changed."""
    roll = rng.random()
    if roll < 0.25:
        return damage_bytes(rng, data, 40)
    encoding, flags, codec, zero, rows, length = _BLOCK_HEAD.unpack_from(data)
    stored = np.frombuffer(data[_BLOCK_HEAD.size :], np.uint8)
    body = compression.decompress(_CODECS[codec], stored, length).tobytes()
    body = damage_bytes(rng, body, 60) if roll < 0.5 else _damage_chunk(rng, body)
    packed = compression.compress(_CODECS[codec], body)
    used = codec if packed is not None else 0
    head = _BLOCK_HEAD.pack(encoding, flags, used, zero, rows, len(body))
    return head + (body if packed is None else packed)


def _damage_chunk(rng: random.Random, body: bytes) -> bytes:
    """Change what a chunk holds, so that it still decompresses."""
    places = [i for i in range(len(body) - 16) if body[i : i + 2] == b"\x02\x01"]
    rng.shuffle(places)
    for place in places:
        raw, _, length = struct.unpack_from("<III", body, place + 4)
        if not 0 < raw <= 1 << 16 or not 16 <= length <= len(body) - place:
            continue
        content = np.empty(raw, np.uint8)
        bitshuffle.decompress_into(np.frombuffer(body, np.uint8, length, place), content)
        changed = damage_bytes(rng, content.tobytes(), raw) or b"\0"
        chunk = bitshuffle.compress_bytes(np.frombuffer(changed, np.uint8))
        head = body[:place].replace(struct.pack("<I", length), struct.pack("<I", len(chunk)))
        return head + chunk + body[place + length :]
    return damage_bytes(rng, body)
