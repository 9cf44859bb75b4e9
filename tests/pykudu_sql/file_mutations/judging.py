"""Loads and COPY of a mutated file, and what must hold of them."""

import json
import math
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import pykudu_sql
from pykudu_sql import Connection
from pykudu_sql.jobs.load import LoadOptions, load
from pykudu_sql.storage.common.types.types import MAX_CELL_BYTES
from tests.pykudu_sql.file_mutations.models import Record, Row, objects_of, records_of
from tests.pykudu_sql.file_mutations.mutating import MutatedFile, mutated_file

MOST_BYTES: Final = 1 << 30


@dataclass(slots=True)
class Report:
    """Of a campaign. `outcomes`: by kind; `failures`: what must not be."""

    tried: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a door made of a file. `error`: its class; else rows, and lines of the others."""

    error: str = ""
    rows: tuple[Row, ...] = ()
    lines: tuple[int | None, ...] = ()


def run_campaign(
    random: Random,
    files: int,
    folder: Path,
    *,
    most_seconds: float | None = None,
    tell: Callable[[str], object] = str,
) -> Report:
    """Try mutated files.

    `most_seconds`: of the processor for one; None for any number; `tell`: given each failure.
    """
    report, path = Report(), folder / "my.db"
    with pykudu_sql.connect(path, autocommit=True) as connection:  # opened once, which is faster
        connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING, n DOUBLE)")
        for _ in range(files):
            file = mutated_file(random)
            (folder / file.name).write_bytes(file.data)
            for fault in _try(file, path, report, most_seconds):
                place = folder.parent / f"{folder.name}-{report.tried}-{file.name}"
                place.write_bytes(file.data)
                report.failures.append(f"{place}: {fault}")
                tell(report.failures[-1])
            (folder / file.name).unlink()
            report.tried += 1
    report.failures += _left_behind(path)  # while it was open maintenance may have written there
    return report


def _try(
    file: MutatedFile, path: Path, report: Report, most_seconds: float | None
) -> Iterator[str]:
    before, started = _peak_bytes(), time.process_time()
    outcomes = {}
    with _standard_error() as written:
        for door in (_load, _copy_collecting, _copy):
            try:
                outcomes[door.__name__] = door(path, path.parent / file.name)
            except pykudu_sql.Error as error:
                outcomes[door.__name__] = Outcome(type(error).__name__)
                if error.sqlstate == "XX000":
                    yield f"{door.__name__}: {error}"
            except Exception as error:
                outcomes[door.__name__] = Outcome(type(error).__name__)
                yield f"{door.__name__}: no error of ours: {error!r:.300}"
    report.slowest = max(report.slowest, seconds := time.process_time() - started)
    if most_seconds is not None and seconds > most_seconds:
        yield f"{seconds:.1f} s"
    if written:
        yield f"standard error: {written[0]!r:.300}"
    if _peak_bytes() - before > MOST_BYTES:
        yield f"{(_peak_bytes() - before) >> 20} MiB"
    for one in path.parent.iterdir():
        if ".unfinished" in one.name:
            yield f"left behind: {one}"
    loaded, collected, copied = outcomes.values()
    if not file.data:
        loaded = collected  # a load takes an empty file for one without rows
    report.outcomes["error" if loaded.error else "rejects" if loaded.lines else "rows"] += 1
    if (loaded.error, loaded.rows, loaded.lines) != (
        collected.error, collected.rows, collected.lines,
    ):  # fmt: skip
        yield f"load and COPY differ: {loaded}, {collected}"[:900]
    if not loaded.error and not loaded.lines and copied != loaded:
        yield f"COPY differs: {copied}, {loaded}"[:900]
    if (loaded.error or loaded.lines) and not copied.error:
        yield f"COPY takes what does not fit: {copied}, {loaded}"[:900]
    if file.text is not None and not loaded.error:
        yield from _judge_text(file.name, file.text, loaded)
    if None in loaded.lines and ".parquet" not in file.name and file.text is not None:
        yield f"a reject without a line: {loaded.lines}"


def _judge_text(name: str, text: bytes, loaded: Outcome) -> Iterator[str]:
    """Compare rows and rejects of a text with those of the model."""
    records = records_of(name, text)
    if records is None:
        if ".json" in name:
            yield from _judge_broken(text, loaded)
        return
    if len(records) != len(loaded.rows) + len(loaded.lines):
        yield f"{len(loaded.rows)} + {len(loaded.lines)} records, not {len(records)}"
    yield from _foreign(records, loaded.rows)
    keys = Counter(one.row[0] for one in records if one.row is not None)
    is_alone = not any(one.is_open for one in records)
    for one in records:
        fits = one.row is not None and len(one.row[1].encode()) <= MAX_CELL_BYTES
        if fits and one.row is not None and keys[one.row[0]] == 1 and is_alone:
            if one.row not in loaded.rows:
                yield f"a row is lost: {one}"[:300]
        elif not fits and not one.is_open and one.line and one.line not in loaded.lines:
            yield f"no reject at line {one.line}: {one}, {loaded.lines}"[:300]


def _judge_broken(text: bytes, loaded: Outcome) -> Iterator[str]:
    """Compare the rows of an array that is broken with the objects in it."""
    if not loaded.lines:
        yield "a broken array without a reject"
    yield from _foreign(objects_of(text), loaded.rows)


def _foreign(records: Sequence[Record], rows: Sequence[Row]) -> Iterator[str]:
    known = {one.row for one in records}
    unknown = [row for row in rows if row not in known]
    if len(unknown) > sum(one.is_open for one in records):
        yield f"rows that the file does not have: {unknown}"[:300]


def _load(path: Path, source: Path) -> Outcome:
    rejects = path.parent / "rejects"
    _empty(path)
    try:
        load(str(path), "t", [str(source)], LoadOptions(engine="local", rejects=str(rejects)))
        found = [json.loads(line) for line in rejects.read_text().splitlines()]
    finally:
        rejects.unlink(missing_ok=True)
    assert all(one["file"] == str(source) and one["reason"] for one in found)
    return Outcome("", _rows(path), tuple(one.get("line") for one in found))


def _copy_collecting(path: Path, source: Path) -> Outcome:
    _empty(path)
    with _connected(path) as connection:
        connection.execute("SET row_errors = 'collect'")
        connection.execute(f"COPY t FROM '{source}'")
        errors = connection.row_errors
    return Outcome("", _rows(path), tuple(_line(one.message) for one in errors))


def _copy(path: Path, source: Path) -> Outcome:
    _empty(path)
    with _connected(path) as connection:
        try:
            connection.execute(f"COPY t FROM '{source}'")
        finally:
            left = connection.execute("SELECT count(*) FROM t").fetchall()
            is_all = not connection.row_errors
    assert left and is_all
    return Outcome("", _rows(path))


def _line(message: str) -> int | None:
    place = message.partition("', line ")[2].partition(":")[0]
    return int(place) if place.isdigit() else None


def _connected(path: Path) -> Connection:
    return pykudu_sql.connect(path, autocommit=True, files=str(path.parent))


def _empty(path: Path) -> None:
    with _connected(path) as connection:
        connection.execute("DELETE FROM t")


def _rows(path: Path) -> tuple[Row, ...]:
    with _connected(path) as connection:
        found = connection.execute("SELECT id, v, n FROM t ORDER BY id").fetchall()
    # One NaN is equal to itself only as one object.
    return tuple(
        (key, text or "", math.nan if number != number else number) for key, text, number in found
    )


def _left_behind(path: Path) -> Iterator[str]:
    for name in ("tmp", "staging", "leases"):
        left = [*(path / name).iterdir()] if (path / name).is_dir() else []
        if left:
            yield f"left behind: {left}"


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@contextmanager
def _standard_error() -> Iterator[list[bytes]]:
    """What is written to standard error meanwhile, libraries of C included; none if nothing is."""
    written: list[bytes] = []
    with tempfile.TemporaryFile() as file:
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield written
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            written += [data] if (data := file.read()) else []
