"""Random scripts for `script_runner`: steps as plain JSON values."""

from typing import Any

from hypothesis import strategies as st

from pykudu_sql.storage.common.rows.row_operation import RowOpKind

WRITES = [kind.value for kind in RowOpKind if kind is not RowOpKind.UPSERT_IGNORE]
SLOTS = st.integers(0, 2)
NAMES = ["a", "s", "x", "y"]
DAY = 86_400
_HOURS = 3_600_000_000


def rows(keys: int, most: int = 8) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Rows of distinct keys, each setting some columns."""
    cells = {
        "a": st.none() | st.integers(-3, 3),
        "s": st.none() | st.sampled_from(["", "a", "b\0", "zz"]),
        "x": st.none() | st.integers(0, 2),
        "y": st.none() | st.sampled_from(["", "y"]),
    }
    row = st.fixed_dictionaries({"k": st.integers(0, keys - 1)}, optional=cells)
    return st.lists(row, min_size=1, max_size=most, unique_by=lambda r: r["k"])


def steps(keys: int) -> st.SearchStrategy[list[Any]]:
    """One step; writes and flushes come more often than the rest."""
    batch, kind = rows(keys), st.sampled_from(WRITES)
    write = st.tuples(st.just("write"), kind, batch, st.booleans())
    work = st.tuples(st.just("work"), SLOTS, kind, batch)
    many = st.tuples(st.just("write"), st.just("UPSERT"), rows(keys, 60), st.just(False))
    chunk = st.integers(0, 3)
    find = st.tuples(st.just("find"), SLOTS, batch, st.booleans(), st.booleans(), chunk)
    on_slot = st.tuples(st.sampled_from(["begin", "commit", "rollback", "hold", "look"]), SLOTS)
    compact = st.tuples(st.just("compact"), st.integers(1, 255))
    major = st.tuples(st.just("major"), st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    plain = st.tuples(
        st.sampled_from(["minor", "undo_gc", "rowset_gc", "vacuum", "restart", "kill"])
    )
    age = st.tuples(st.just("age"), st.sampled_from([0, 1, DAY]))
    clock = st.tuples(st.just("clock"), st.sampled_from([-_HOURS, 1000, 2_000_000, _HOURS]))
    add = st.one_of(
        st.tuples(st.just("add"), st.just("x"), st.just("INT"), st.none() | st.integers(0, 9)),
        st.tuples(st.just("add"), st.just("y"), st.just("STRING"), st.sampled_from(["", "new"])),
    )
    drop = st.tuples(st.just("drop"), st.sampled_from(NAMES))
    threads = st.tuples(st.just("threads"), st.lists(rows(keys), min_size=2, max_size=3))
    return st.one_of(
        write, write, write, many, work, find, on_slot, on_slot,
        st.just(("flush",)), st.just(("flush",)), compact, major, plain, plain,
        st.tuples(st.just("past"), st.integers(0, 1000)),
        st.tuples(st.just("optimize"), st.booleans()),
        age, clock, add, drop, threads,
    ).map(list)  # fmt: skip


@st.composite
def scripts(draw: st.DrawFn) -> dict[str, Any]:
    """A whole script.

    Its length is drawn by itself: hypothesis alone makes lists of ten on average, and what needs a
    flush, a compaction, an ALTER and a restart in one order hardly ever comes up in ten steps.
    """
    keys = draw(st.sampled_from([5, 500]))
    length = draw(st.integers(5, 60))
    return {
        "keys": keys,
        "hash": draw(st.sampled_from([1, 1, 2])),
        "background": draw(st.booleans()),
        "steps": draw(st.lists(steps(keys), min_size=length, max_size=length)),
    }
