"""Orphans: files and folders of tablets that the manifest does not name.

A crash between writing a file and naming it leaves one, and so does one between an edit that drops
a file and its unlinking. The next opening for writing removes them.
"""

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass
from pykudu_sql.storage.fs import layout
from pykudu_sql.storage.fs.env import names_if_there
from pykudu_sql.storage.fs.lease import oldest_lease
from pykudu_sql.storage.tablet.rowset.tablet_metadata import TabletMetadata

if TYPE_CHECKING:
    from pykudu_sql.storage.fs.env import Env


@dataclass(frozen=True, slots=True)
class Orphan:
    """A name that nothing in the manifest stands for.

    `path`: of a file, or of the folder of a tablet; `is_tablet`: which of the two.
    """

    path: str
    is_tablet: bool


def find_orphans(
    env: "Env", root: str, tablet_ids: Container[str], metadata: Mapping[str, TabletMetadata]
) -> Iterator[Orphan]:
    """The orphans of a database; names that a database does not give are none.

    `tablet_ids`: of the tablets that exist; `metadata`: of those tablets that have files. Raises
    DiskError: the disk refused.
    """
    directory = layout.tablets_directory(root)
    for tablet_id in names_if_there(env, directory):
        folder = f"{directory}/{tablet_id}"
        if not layout.is_own(root, folder):
            continue
        if tablet_id not in tablet_ids:
            yield Orphan(folder, True)
            continue
        rowsets = metadata.get(tablet_id, TabletMetadata()).rowsets.values()
        named = {f"{number}.{kind}" for meta in rowsets for kind, number in meta.files}
        for name in names_if_there(env, folder):
            path = f"{folder}/{name}"
            if name not in named and layout.is_own(root, path):
                yield Orphan(path, False)


def remove_orphans(
    env: "Env", root: str, tablet_ids: Container[str], metadata: Mapping[str, TabletMetadata]
) -> None:
    """Remove the orphans of a database that this process has opened for writing.

    Files of tablets not while another process reads it: they may be in what that has seen. Staged
    rows whose write has ended are nobody's. `env`, `root`, `tablet_ids`, `metadata`: see
    `find_orphans`. Raises DiskError: the disk refused.
    """
    if env.exists(layout.staging_directory(root)):
        # Loaded where somebody staged rows: most databases are opened without.
        from pykudu_sql.storage.ingest.staging import sweep_staging

        sweep_staging(env, root)
    if oldest_lease(env, root) is not None:
        return
    for orphan in find_orphans(env, root, tablet_ids, metadata):
        if orphan.is_tablet:
            env.remove_tree(orphan.path, point="open.remove_tablet")
        else:
            env.unlink(orphan.path, point="open.remove_orphan")
