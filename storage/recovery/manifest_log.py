"""The manifest together with the state that its edits fold to, changed as one.

An edit is durable before the state shows it. An edit that the disk refuses is undone: where only
writing failed the manifest is cut back, and where the sync failed it is rewritten from the state,
which has not got the edit. While the disk refuses that too, the outcome is unknown, and `repair`
may be tried again at any time.
"""

from contextlib import suppress

from pykudu_sql.storage.catalog.store_state import StoreState
from pykudu_sql.storage.errors import DiskError, TransactionResolutionUnknownError
from pykudu_sql.storage.log.log_writer import undone
from pykudu_sql.storage.log.manifest import Edit, Manifest

MANIFEST_BYTES = 4 << 20


class ManifestLog:
    """Appends edits and keeps the manifest short. The caller holds the commit lock."""

    def __init__(self, manifest: Manifest, state: StoreState) -> None:
        """Go on behind the edits that a state was folded from."""
        self._manifest = manifest
        self._state = state
        self._condensed = 0

    @property
    def is_broken(self) -> bool:
        """Whether a write or sync has failed that only `repair` gets over."""
        return self._manifest.is_broken

    def append(self, edit: Edit) -> None:
        """Make an edit durable, and then a part of the state.

        Raises DiskError: the disk refused; nothing of the edit is there, or ever will be;
        TransactionResolutionUnknownError: it refused to take the edit back as well. Until `repair`
        has succeeded, an opening may find it.
        """
        try:
            self._manifest.append(edit)
        except TransactionResolutionUnknownError as error:
            self._take_back(error)
        self._state.fold(edit)
        size = self._manifest.size
        if size > MANIFEST_BYTES and size > 4 * self._condensed:
            self._condensed = size  # where the disk refuses, it has time until four times that
            with suppress(DiskError):
                self._rewrite()

    def repair(self) -> None:
        """Get over a failed write or sync; does nothing where nothing failed.

        Raises DiskError: the disk still refuses; may be tried again.
        """
        if self.is_broken:
            self._rewrite()

    def _take_back(self, error: TransactionResolutionUnknownError) -> None:
        try:
            self._rewrite()
        except DiskError:
            raise error from error.__cause__
        cause = error.__cause__
        raise undone(cause if isinstance(cause, DiskError) else DiskError(error.message)) from cause

    def _rewrite(self) -> None:
        """Replace the manifest by one that holds the state and nothing else."""
        self._manifest.rewrite(list(self._state.condensed()))
        self._condensed = self._manifest.size
