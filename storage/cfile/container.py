"""A container: one immutable file that holds many named CFiles and blobs.

Kudu writes a file for every column; a flush here is one file and one fsync. Data comes first, then
the positional indexes side by side, then the footer:

    0       8   magic "PKCFILE1"
    8       .   per CFile: dictionary block, data blocks, and of some two blobs: checksums of pages
                and where cells lie (see `page_checksums` and `cell_places`); per blob: its bytes;
                in the order added
    .       .   the positional index of each CFile
    .       .   footer and trailer (see `footer`)

There are no gaps: every byte is either magic or under a checksum. A file is valid once its trailer
is there, and `finish` syncs before it returns.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from pykudu_sql.storage.cfile.block_cache import BlockCache
from pykudu_sql.storage.cfile.block_file import (
    BlockFile,
    BlockPointer,
    FileIdentity,
    Section,
    checksum,
)
from pykudu_sql.storage.cfile.cfile_reader import CFileReader
from pykudu_sql.storage.cfile.cfile_writer import EncodedCFile
from pykudu_sql.storage.cfile.footer import MAGIC, MAX_NAME_BYTES, CFileEntry, Footer, read_footer
from pykudu_sql.storage.cfile.in_place import cell_places, page_checksums
from pykudu_sql.storage.cfile.in_place.page_checksums import PAGE_BYTES, SMALL_PAGE_BYTES
from pykudu_sql.storage.cfile.positional_index import PositionalIndex
from pykudu_sql.storage.errors import CorruptionError, InternalError
from pykudu_sql.storage.fs.env import Env

__all__ = ["ContainerReader", "ContainerWriter", "FileIdentity"]

_APPEND_BYTES = 64 * 1024


class ContainerWriter:
    """Writes a container. Belongs to one thread.

    `finish` closes the file. A `with` statement closes it also when that is not reached.
    """

    def __init__(self, env: Env, path: str, identity: FileIdentity, point: str) -> None:
        """Create the file.

        Args:
            identity: what its checksums cover besides the bytes.
            point: prefix of the fault points `<point>.create`, `.append` and `.sync`.

        Raises DiskError: the disk refused.
        """
        self._point = point
        self._seed = identity.checksum_seed()
        self._file = env.create(path, point=f"{point}.create")
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._offset = 0
        self._cfiles: dict[str, CFileEntry] = {}
        self._indexes: dict[str, PositionalIndex] = {}
        self._blobs: dict[str, BlockPointer] = {}
        self._append(MAGIC)

    def add_cfile(self, name: str, encoded: EncodedCFile) -> None:
        """Write a column.

        `name`: not used in this file yet, at most 1 KiB. Raises DiskError: the disk refused.
        """
        self._check_name(name)
        dictionary = None
        if encoded.dictionary is not None:
            dictionary = self._write(Section.DICTIONARY, name, 0, encoded.dictionary)
        offset = self._offset
        pointers = [
            self._write(Section.DATA, name, number, data)
            for number, data in enumerate(encoded.blocks)
        ]
        end = self._offset
        if encoded.cells_lie_apart and max(map(len, encoded.blocks), default=0) > PAGE_BYTES:
            self._add_pages(name, encoded)
        self._indexes[name] = PositionalIndex(
            offsets=tuple(pointer.offset for pointer in pointers),
            lengths=tuple(pointer.length for pointer in pointers),
            checksums=tuple(pointer.checksum for pointer in pointers),
            zone_map=encoded.zone_map,
        )
        self._cfiles[name] = CFileEntry(
            name=name,
            type=encoded.type,
            encoding=encoded.encoding,
            compression=encoded.compression,
            rows=encoded.row_count,
            null_count=encoded.null_count,
            raw_size=encoded.raw_size,
            encoded_size=end - (dictionary.offset if dictionary else offset),
            blocks=len(pointers),
            offset=offset,
            # Indexes are written when all data is; `finish` fills this in.
            index=BlockPointer(0, 0, 0),
            dictionary=dictionary,
        )

    def _add_pages(self, name: str, encoded: EncodedCFile) -> None:
        """Write what single cells of a column are read by."""
        places = cell_places.cell_places(encoded.type, encoded.blocks)
        page_bytes = PAGE_BYTES if places is None else SMALL_PAGE_BYTES
        checksums = page_checksums.page_checksums(self._seed, encoded.blocks, page_bytes)
        self.add_blob(page_checksums.blob_name(name), checksums)
        if places is not None:
            self.add_blob(cell_places.blob_name(name), places)

    def add_blob(self, name: str, data: bytes) -> None:
        """Write bytes of the caller's own format. Raises DiskError: the disk refused."""
        self._check_name(name)
        self._blobs[name] = self._write(Section.BLOB, name, 0, data)

    def finish(self, metadata: Mapping[str, Any]) -> int:
        """Write the indexes and the footer, make the file durable and close it; its length.

        `metadata`: JSON values to keep with the file. Raises DiskError: the disk refused.
        """
        with self:
            cfiles = {
                name: replace(entry, index=self._write(Section.INDEX, name, 0, index.to_bytes()))
                for (name, entry), index in zip(
                    self._cfiles.items(), self._indexes.values(), strict=True
                )
            }
            footer = Footer(cfiles, self._blobs, metadata)
            self._append(footer.to_bytes(self._seed, self._offset))
            self._flush()
            self._file.sync(point=f"{self._point}.sync")
        return self._offset

    def close(self) -> None:
        """Close the file; one that was not finished is not valid. Closing twice is allowed."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _check_name(self, name: str) -> None:
        if name in self._cfiles or name in self._blobs or len(name.encode()) > MAX_NAME_BYTES:
            raise InternalError(f"{self._file.path}: name '{name:.80}' is taken or too long")

    def _write(self, section: Section, name: str, index: int, data: bytes) -> BlockPointer:
        crc = checksum(self._seed, section, name, index, self._offset, data)
        pointer = BlockPointer(self._offset, len(data), crc)
        self._append(data)
        return pointer

    def _append(self, data: bytes) -> None:
        # Small pieces are gathered, so that there is not a write for each.
        self._pending.append(data)
        self._pending_bytes += len(data)
        self._offset += len(data)
        if self._pending_bytes >= _APPEND_BYTES:
            self._flush()

    def _flush(self) -> None:
        pending = b"".join(self._pending)
        self._pending.clear()
        self._pending_bytes = 0
        self._file.append(pending, point=f"{self._point}.append")


class ContainerReader:
    """An open container. Safe for threads."""

    def __init__(self, file: BlockFile, footer: Footer, cache: BlockCache) -> None:
        """See `open`."""
        self._file = file
        self._footer = footer
        self._cache = cache
        self._readers: dict[str, CFileReader] = {}

    @classmethod
    def open(
        cls, env: Env, path: str, identity: FileIdentity, cache: BlockCache
    ) -> "ContainerReader":
        """Open a file and read its footer.

        `identity`: the one it was written with. Raises CorruptionError: the file is missing, not
        what was written, or another one; FormatVersionError: a newer version of the format wrote
        it; DiskError: the disk refused.
        """
        if not env.exists(path):
            raise CorruptionError(
                f"'{path}' is missing, though the manifest names it",
                hint="Restore the file from a backup of the database.",
            )
        opened = env.open_random(path)
        file = BlockFile(opened, identity)
        try:
            footer = read_footer(file, identity.checksum_seed())
            if file.read_unchecked(0, len(MAGIC)) != MAGIC:
                raise file.corruption(Section.FOOTER, "", 0, 0, "the file does not begin as one")
        except BaseException:
            file.close()
            raise
        return cls(file, footer, cache)

    @property
    def path(self) -> str:
        """The file's path."""
        return self._file.path

    @property
    def size(self) -> int:
        """The file's length in bytes."""
        return self._file.size

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What `finish` was given."""
        return self._footer.metadata

    def names(self) -> tuple[str, ...]:
        """Names of the CFiles, in the order written."""
        return tuple(self._footer.cfiles)

    def blob_names(self) -> tuple[str, ...]:
        """Names of the blobs, in the order written."""
        return tuple(self._footer.blobs)

    def entry(self, name: str) -> CFileEntry | None:
        """The footer's entry of a CFile, None when there is none of that name."""
        return self._footer.cfiles.get(name)

    def cfile(self, name: str) -> CFileReader:
        """A CFile, with its index read.

        Raises CorruptionError: the container has none of that name, or its index is not what was
        written.
        """
        reader = self._readers.get(name)
        if reader is None:
            entry = self.entry(name)
            if entry is None:
                raise CorruptionError(f"{self.path}: there is no CFile '{name}'")
            blobs = self._footer.blobs
            pages = blobs.get(page_checksums.blob_name(name))
            places = blobs.get(cell_places.blob_name(name))
            opened = CFileReader(self._file, entry, self._cache, pages, places)
            reader = self._readers.setdefault(name, opened)
        return reader

    def blob(self, name: str) -> bytes:
        """The bytes of a blob.

        Raises:
            CorruptionError: the container has none of that name, or they are not what was written.
        """
        pointer = self._footer.blobs.get(name)
        if pointer is None:
            raise CorruptionError(f"{self.path}: there is no blob '{name}'")
        return self._file.read(Section.BLOB, name, pointer).tobytes()

    def close(self) -> None:
        """Close the file; decoded blocks stay usable."""
        self._file.close()
