"""What a scan holds once its rows are there."""

import gc
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.thread_pool import ThreadPool
from pykudu_sql.storage.scan import table_scan
from pykudu_sql.storage.scan.table_scan import TableScan
from pykudu_sql.storage.tablet.rowset.rowset import RowBlock
from tests.storage.scan.test_scan_tokens import mixed_store, table_of


class SlowToForget(ThreadPool):
    """Threads that hold every task long after its result is there, as a busy machine's do."""

    def __init__(self) -> None:
        super().__init__(2)
        self.tasks: list[object] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks.append((fn, args))
        return super().submit(fn, *args, **kwargs)


READS: dict[str, Callable[[TableScan], object]] = {
    "whole": TableScan.to_table,
    "left early": lambda scan: next(scan.batches()),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_rowsets_are_let_go_with_the_last_row_whatever_the_threads_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[TableScan], object]
) -> None:
    monkeypatch.setattr(table_scan, "PARALLEL_ROWS", 0)
    store = mixed_store(tmp_path / "db")
    with SlowToForget() as pool:
        scan = replace(store.begin().scan(table_of(store), ScanSpec((0, 1, 2))), pool=pool)
        read(scan)
        assert pool.tasks
        del scan
        store.optimize("t", full=True)
        gc.collect()
        store.collect_files()
        named = [r.meta.files for t in store.tablets.values() for r in t.components.tree.rowsets]
        assert len(list((tmp_path / "db").glob("tablets/*/*"))) == sum(map(len, named))
    store.close()


def test_a_stream_asks_once_how_wide_its_rows_are_however_many_rowsets_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = mixed_store(tmp_path / "db")
    scan = store.begin().scan(table_of(store), ScanSpec((0, 1, 2)))
    assert len(scan.reads) > 2
    asked: list[TableScan] = []
    estimated = TableScan.estimated_bytes.fget
    assert estimated is not None

    def counted(one: TableScan) -> int:
        asked.append(one)
        size: int = estimated(one)
        return size

    monkeypatch.setattr(TableScan, "estimated_bytes", property(counted))
    assert sum(batch.num_rows for batch in scan.batches()) == scan.to_table().num_rows
    assert len(asked) == 1
    store.close()


def test_who_wants_few_rows_of_a_stream_has_one_rowset_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = mixed_store(tmp_path / "db")
    scan = store.begin().scan(table_of(store), ScanSpec((0, 1, 2)))
    begun: list[object] = []
    scan_of = TableScan._scan

    def counted(one: TableScan, *arguments: Any) -> Generator[RowBlock, None, None]:
        begun.append(arguments)
        return scan_of(one, *arguments)

    monkeypatch.setattr(TableScan, "_scan", counted)
    batches = scan.batches()
    assert next(batches).num_rows > 0
    assert len(begun) == 1
    assert sum(batch.num_rows for batch in batches) > 0
    assert len(begun) == len(scan.reads) > 2
    store.close()
