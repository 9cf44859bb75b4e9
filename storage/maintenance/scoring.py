"""How much an operation would gain: Kudu's scoring, as pure functions with its constants.

`tablet/tablet_replica_mm_ops.cc` (flushes), `tablet/tablet_mm_ops.cc` and `tablet/delta_tracker.cc`
(delta compactions), `util/maintenance_manager.cc` (priorities). The score of a merging compaction
is that of `tablet.compaction_policy`.
"""

FLUSH_AGE_SECONDS = 120.0
FLUSH_UPPER_BOUND_SECONDS = 3600.0
MINOR_COMPACTION_FILES = 1000
MAJOR_COMPACTION_RATIO = 0.1
ANCIENT_UNDO_RATIO = 0.2
PRIORITY_BASE = 1.1
_MIB = 1 << 20


def flush_score(ram: int, age: float, flush_bytes: int) -> float:
    """The score of a flush.

    Args:
        ram: bytes it would free.
        age: seconds since the first change that it would bring to disk.
        flush_bytes: from so many on it scores at least 1, and 1 more for each MiB beyond.
    """
    if ram <= 0:
        return 0.0
    if ram >= flush_bytes:
        return max(1.0, (ram - flush_bytes) / _MIB)
    if age > FLUSH_AGE_SECONDS:
        return min(1.0, (age - FLUSH_AGE_SECONDS) / FLUSH_UPPER_BOUND_SECONDS)
    return 0.0


def minor_compaction_score(redo_files: int) -> float:
    """The score of merging a rowset's REDO files into one."""
    return min(1.0, redo_files / MINOR_COMPACTION_FILES) if redo_files > 1 else 0.0


def major_compaction_score(redo_bytes: int, base_bytes: int, updates: int) -> float:
    """The score of bringing a rowset's updates into its base image.

    Args:
        redo_bytes: of its REDO files.
        base_bytes: of its base image.
        updates: cells that the REDO files set; without any there is nothing to gain.
    """
    if not updates or not base_bytes or redo_bytes < MAJOR_COMPACTION_RATIO * base_bytes:
        return 0.0
    return min(1.0, redo_bytes / base_bytes)


def postpones_compaction(ancient_undo: int, all_undo: int) -> bool:
    """Whether so much of a tablet's history is ancient that it is collected before it is merged."""
    return ancient_undo > ANCIENT_UNDO_RATIO * all_undo


def prioritised(score: float, priority: int) -> float:
    """A score with the priority of its table, -5 to 5."""
    return score * PRIORITY_BASE**priority
