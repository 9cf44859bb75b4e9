"""The manifest: the database's metadata as a log of edits.

What Kudu keeps in its system catalog and in each tablet's superblock lies here in one log, which
makes one record the atom of every change of metadata: a flush or a bulk insert that adds files, in
any number of tablets, happens or does not. What the manifest does not name does not
exist.

An edit is a JSON object whose meaning belongs to the rooms above; here it is only made durable, in
order. The text is compact and deterministic (sorted keys, UTF-8, no NaN). A seal follows each edit
as soon as it is durable, so that later damage to the newest edit is distinguished from a torn
write.

The log is replaced by a shorter one when its history has grown: `rewrite` writes manifest N+1 in
full and syncs it, then CURRENT names it, then the old one goes. A crash in between leaves a file
that CURRENT does not name; the next writer removes it.

Rewriting is also the way out when a sync fails: whether the edit is on disk is not known then, and
a manifest without it, once CURRENT names that, makes sure that it never happened.
"""

import json
import threading
from contextlib import suppress
from typing import Any, Self

from pykudu_sql.storage.errors import CorruptionError, DiskError, Error, OperationalError
from pykudu_sql.storage.fs.env import Env, names_if_there
from pykudu_sql.storage.fs.layout import (
    current_path,
    manifest_directory,
    manifest_path,
    parse_log_name,
    tablets_directory,
    wal_directory,
)
from pykudu_sql.storage.log.current import Current, read_current, write_current
from pykudu_sql.storage.log.durable_mark import NOWHERE, DurableEnd, DurableMark
from pykudu_sql.storage.log.log_reader import LogEnd, LogReader
from pykudu_sql.storage.log.log_writer import LogWriter, in_doubt, undone
from pykudu_sql.storage.log.record_log import KEEP_A_COPY, LogIdentity, LogKind

Edit = dict[str, Any]


class Manifest:
    """An open manifest. All methods are thread-safe; edits are ordered by their arrival.

    `edits`: what was there on opening (or creating), in order; `append` does not add to it.
    """

    def __init__(self, env: Env, root: str, writer: LogWriter, edits: list[Edit]) -> None:
        """Use `create` or `open`."""
        self._env = env
        self._root = root
        self._writer = writer
        self._mutex = threading.Lock()
        self._mark: DurableMark | None = None
        self.database_id = writer.identity.database_id
        self.edits = edits

    @classmethod
    def create(cls, env: Env, root: str, database_id: bytes, edits: list[Edit]) -> Self:
        """Make the first manifest of a new database; durable on return.

        What an attempt that was cut short left in `manifest/` is removed first. The manifest is
        the first thing a database gets; where there are data already, CURRENT was lost.

        Args:
            root: the database directory; created when missing. It has no CURRENT.
            edits: the first edits.

        Raises CorruptionError: CURRENT is missing, but there is a database; DiskError: refused by
        the file system.
        """
        env.make_dir(manifest_directory(root))
        _refuse_to_bury(env, root)
        _remove_all_but(env, root, None)
        writer = _write_manifest(env, root, database_id, 1, edits)
        try:
            write_current(env, root, Current(database_id, 1))
        except DiskError:
            writer.abandon()
            raise
        return cls(env, root, writer, edits)

    @classmethod
    def open(cls, env: Env, root: str, reaches: DurableEnd = NOWHERE) -> Self:
        """Open for writing: cuts a torn tail and removes manifests that CURRENT does not name.

        `reaches`: an edit that the manifest has, or a later manifest is in its place. Raises
        CorruptionError: CURRENT or the manifest is damaged or missing, or ends too early. Nothing
        was cut off then; FormatVersionError: written by a newer version; DiskError: refused by the
        file system.
        """
        current = read_current(env, root)
        edits, identity, end = _read_manifest(env, root, current)
        path = manifest_path(root, current.manifest_number)
        check_manifest_reaches(path, identity.number, end, reaches)
        writer = LogWriter.resume(env, path, identity, end)
        try:
            _remove_all_but(env, root, current.manifest_number)
        except DiskError:
            writer.abandon()
            raise
        return cls(env, root, writer, edits)

    @staticmethod
    def read(env: Env, root: str) -> tuple[bytes, list[Edit]]:
        """Database id and edits, changing nothing on disk; a writer may be at work.

        Raises CorruptionError: CURRENT or the manifest is damaged or missing; FormatVersionError:
        written by a newer version; DiskError: refused by the file system.
        """
        current = read_current(env, root)
        while True:
            try:
                edits, identity, _ = _read_manifest(env, root, current)
                return identity.database_id, edits
            except (CorruptionError, DiskError):
                # A writer may have replaced the manifest after CURRENT was read.
                latest = read_current(env, root)
                if latest == current:
                    raise
                current = latest

    @property
    def position(self) -> tuple[int, int]:
        """Number of the live log and sequence of its last durable record; it only ever grows."""
        end = self.durable_end
        return end.number, end.sequence

    @property
    def durable_end(self) -> DurableEnd:
        """The newest edit, or the seal of it, that survives a power loss."""
        writer = self._writer
        return DurableEnd(writer.identity.number, writer.durable_sequence)

    def attach_mark(self, mark: DurableMark) -> None:
        """Note in a mark what is durable, from here on."""
        self._mark = mark

    def _note(self) -> None:
        if self._mark is not None:
            self._mark.note_manifest(self.durable_end)

    @property
    def path(self) -> str:
        """Where the live log lies."""
        return manifest_path(self._root, self._writer.identity.number)

    @property
    def size(self) -> int:
        """Bytes of the log in use: what `rewrite` could shorten."""
        return self._writer.size

    @property
    def is_broken(self) -> bool:
        """Whether a write or sync has failed that only `rewrite` gets over."""
        return self._writer.failure is not None

    def append(self, edit: Edit) -> None:
        """Add an edit; it is durable on return.

        Raises DiskError: the disk refused; nothing of the edit is there, or ever will be;
        TransactionResolutionUnknownError: an opening may find the edit, until a `rewrite` without
        it has succeeded.
        """
        payload = _encode(edit)
        self._env.check_guard()
        with self._mutex:
            writer = self._writer
            writer.check_writable()
            try:
                writer.append(payload)
            except DiskError as error:
                _take_back(writer, error)
                raise undone(error) from error
            try:
                writer.sync()
            except DiskError as error:
                raise in_doubt(error) from error
            self._note()
            _seal(writer)

    def rewrite(self, edits: list[Edit]) -> None:
        """Replace all edits by these, atomically and durably; gets over earlier failures.

        Raises DiskError: a step failed. If the new manifest could be written, and only naming it
        failed, either may be in place, and no edits are accepted until a `rewrite` has succeeded;
        else this one is in use as before.
        """
        with self._mutex:
            old = self._writer
            number = self._unused_number()
            writer = _write_manifest(self._env, self._root, self.database_id, number, edits)
            try:
                write_current(self._env, self._root, Current(self.database_id, number))
            except DiskError as error:
                writer.abandon()
                old.fail(error)
                raise
            old.abandon()
            self._writer = writer
            self._note()
            with suppress(DiskError):  # what is left behind, the next opening removes
                _remove_all_but(self._env, self._root, number)

    def _unused_number(self) -> int:
        """A number above all that may have been named by CURRENT."""
        names = self._env.list_dir(manifest_directory(self._root))
        return 1 + max(number for name in names if (number := parse_log_name(name)) is not None)

    def close(self) -> None:
        """Mark the log as cleanly closed, and close it."""
        with self._mutex:
            self._writer.close()
            self._note()


def _take_back(writer: LogWriter, error: DiskError) -> None:
    """Undo an append that failed, or raise that its outcome is unknown."""
    try:
        writer.undo_append()
    except DiskError as refusal:
        raise in_doubt(error) from refusal


def _seal(writer: LogWriter) -> None:
    """Confirm the last edit, which is durable; where the disk refuses, the next edit does."""
    try:
        writer.seal()
    except DiskError:
        with suppress(DiskError):
            writer.undo_append()


def check_manifest_reaches(path: str, number: int, end: LogEnd, reaches: DurableEnd) -> None:
    """See that a manifest has all that is known to have been in it.

    Raises CorruptionError: it ends too early, or is older than one that was in use.
    """
    if number < reaches.number:
        raise CorruptionError(
            f"CURRENT names '{path}', but manifest {reaches.number} was in use after it",
            hint=KEEP_A_COPY,
        )
    if number == reaches.number and end.last_sequence < reaches.sequence:
        raise CorruptionError(
            f"'{path}' is damaged at offset {end.offset}: it ends with record {end.last_sequence}, "
            f"but record {reaches.sequence} was safely on disk",
            hint=KEEP_A_COPY,
        )


def _write_manifest(
    env: Env, root: str, database_id: bytes, number: int, edits: list[Edit]
) -> LogWriter:
    """A whole manifest, its bytes and its name durable."""
    identity = LogIdentity(LogKind.MANIFEST, number, 1, database_id)
    payloads = [_encode(edit) for edit in edits]
    writer = LogWriter.create(env, manifest_path(root, number), identity)
    try:
        for payload in payloads:
            writer.append(payload)
        writer.seal()
        env.sync_dir(manifest_directory(root), point="manifest.create_sync_dir")
    except DiskError:
        writer.abandon()
        with suppress(DiskError):
            env.unlink(manifest_path(root, number), point="manifest.drop_failed")
        raise
    return writer


def _read_manifest(env: Env, root: str, current: Current) -> tuple[list[Edit], LogIdentity, LogEnd]:
    """Edits, identity and end of the manifest that CURRENT names."""
    path = manifest_path(root, current.manifest_number)
    if not env.exists(path):
        raise CorruptionError(
            f"'{path}' is missing, though CURRENT names it as the live manifest", hint=KEEP_A_COPY
        )
    reader = LogReader.open(
        env, path, LogKind.MANIFEST, current.manifest_number, current.database_id
    )
    try:
        edits = [decode_edit(payload, path, sequence) for sequence, payload in reader.records()]
    finally:
        reader.close()
    return edits, reader.identity, reader.end


def no_database(env: Env, root: str, name: str, hint: str | None = None) -> Error:
    """The error for a folder without a CURRENT that a database is expected in.

    Args:
        env: of the database.
        root: the folder, which need not be there.
        name: of it in messages.
        hint: what to do where there is no database at all.

    Returns CorruptionError: a database is there that lost its CURRENT; OperationalError: none is.
    """
    error = OperationalError(f"there is no database at '{name}'", hint=hint, sqlstate="58P01")
    has_manifests = names_if_there(env, manifest_directory(root))
    return (_lost_current(env, root) if has_manifests else None) or error


def _refuse_to_bury(env: Env, root: str) -> None:
    """Refuse to start a new database over one that has lost its CURRENT."""
    if (error := _lost_current(env, root)) is not None:
        raise error


def _lost_current(env: Env, root: str) -> CorruptionError | None:
    """The error for a folder without a CURRENT that shows that it is a database; None of others."""
    numbers = map(parse_log_name, names_if_there(env, manifest_directory(root)))
    signs = [manifest_path(root, n) for n in numbers if n is not None and n > 1]
    for directory in (wal_directory(root), tablets_directory(root)):
        if names_if_there(env, directory):
            signs.append(directory)
    if not signs:
        return None
    return CorruptionError(
        f"'{current_path(root)}' is missing, but '{signs[0]}' shows that a database is there",
        hint=KEEP_A_COPY,
    )


def _remove_all_but(env: Env, root: str, live: int | None) -> None:
    """Remove the manifests that do not count. Other names in the directory are not ours.

    Not synced: names that a power loss brings back are removed by the next writer.
    """
    directory = manifest_directory(root)
    numbers = (parse_log_name(name) for name in env.list_dir(directory))
    for number in [n for n in numbers if n is not None and n != live]:
        env.unlink(manifest_path(root, number), point="manifest.drop")


def _encode(edit: Edit) -> bytes:
    """The one text of an edit."""
    return json.dumps(
        edit, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode("utf-8")


def decode_edit(payload: bytes, path: str, sequence: int) -> Edit:
    """The edit of a record whose checksum was right. Raises CorruptionError: it is no edit."""
    try:
        edit = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise CorruptionError(
            f"edit {sequence} of '{path}' is not JSON: {error}", hint=KEEP_A_COPY
        ) from None
    if not isinstance(edit, dict):
        raise CorruptionError(f"edit {sequence} of '{path}' is not an object", hint=KEEP_A_COPY)
    return edit
