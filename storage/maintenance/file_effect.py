"""What an operation does to a tablet's files, seen from the metadata before and after."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pykudu_sql.dataclass import dataclass

if TYPE_CHECKING:
    from pykudu_sql.storage.tablet.tablet import Tablet

FileSizes = Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class Effect:
    """What an operation did.

    `written`: bytes of the files it wrote; `freed`: bytes of the files it dropped, or of the log.
    """

    written: int = 0
    freed: int = 0

    def __bool__(self) -> bool:
        return bool(self.written or self.freed)


def file_sizes(tablet: "Tablet") -> FileSizes:
    """Bytes of the files that a tablet's rowsets consist of, by kind and number."""
    sizes: dict[tuple[str, int], int] = {}
    for rowset in tablet.components.tree.rowsets:
        meta = rowset.meta
        sizes["base", meta.base] = meta.size
        sizes.update({("base", overlay.base): overlay.size for overlay in meta.overlays})
        sizes.update({(file.kind, file.number): file.size for file in (*meta.undo, *meta.redo)})
    return sizes


def effect_between(before: FileSizes, after: FileSizes) -> Effect:
    """What happened between two looks at a tablet's files."""
    written = sum(size for name, size in after.items() if name not in before)
    return Effect(written, sum(size for name, size in before.items() if name not in after))
