"""Hostile files with right checksums: a typed error or sound rows, soon and in little memory.

Each is checked, as `pykudu-sql check` does, and then opened, read, written and compacted. What a
use of the database refuses, the check must find as well.

Mutations are judged in children of limited memory, whose death, wrong exception or slowness is a
finding. `python -m tests.storage.hostile.campaign MUTATIONS [FIRST]` prints a table of outcomes and
ends with 1 if there is a finding; each finding is printed with the number that makes it again.
"""

import collections
import contextlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass

from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.check.database_check import DatabaseCheck
from pykudu_sql.storage.common.predicate.scan_spec import ScanSpec
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.errors import CorruptionError, FormatVersionError, HistoryPurgedError
from pykudu_sql.storage.transaction.transaction import Transaction
from tests.storage.hostile.mutator import Mutation, Mutator
from tests.storage.hostile.sample import ROOT, Sample, build, disk_of, open_store, row

MEMORY_BYTES = 256 << 20
SECONDS = 1.0
_GIVE_UP_SECONDS = 120  # on the clock, for what waits for ever: other work may hold the processor
_BATCH = 250
_TYPED = (CorruptionError, FormatVersionError)


@dataclass(frozen=True)
class Verdict:
    """How one mutation ended.

    Attributes:
        number: of the mutation.
        outcome: "refused", "sound", or what was wrong.
        seconds: of processor time.
        detail: the error's text or where the wrong exception came from.
    """

    number: int
    outcome: str
    seconds: float
    detail: str

    @property
    def is_finding(self) -> bool:
        """Whether a mutation did what none may do."""
        return self.outcome not in ("refused", "sound")


def use(sample: Sample, mutation: Mutation) -> None:
    """Open the database with a hostile file in it, read everything, and write on."""
    disk = disk_of({**sample.files, mutation.path: mutation.data})
    with contextlib.closing(open_store(disk)) as store:
        txn = store.begin()
        for bound, _ in sample.past[:: len(sample.past) - 1]:
            for table in store.catalog_at(bound).tables.values():
                scan(txn, table, bound)
        for table in store.catalog.tables.values():
            store.rowset_infos(table)
            store.column_file_infos(table)
            ids = [column.id for column in table.schema.columns]
            for number in (0, 3, 30, 210, 777):
                txn.lookup(table, (row(number)[0],), ids)
            store.write_row(table, RowOpKind.UPSERT, row(20, 9))
        store.flush()
        for table in store.catalog.tables.values():
            if "/tablets/" in mutation.path:  # else a compaction reads nothing hostile
                store.optimize(table.name, full=True)
            scan(store.begin(), table, None)


def problems_of(sample: Sample, mutation: Mutation) -> list[str]:
    """What a check of the database finds."""
    disk = disk_of({**sample.files, mutation.path: mutation.data})
    findings = DatabaseCheck(disk, ROOT, quick=False).run()
    return [
        f"{finding.path}: {finding.problem}" for finding in findings if not finding.is_left_over
    ]


def scan(txn: Transaction, table: TableInfo, bound: int | None) -> None:
    """Read a table; what is read must be arrays that Arrow finds sound."""
    ids = tuple(column.id for column in table.schema.columns)
    txn.table_scan(table, ScanSpec(ids), bound).validate(full=True)


def judge(sample: Sample, mutator: Mutator, number: int) -> Verdict:
    """Use the database with one mutation in it."""
    mutation = mutator.mutation(number)
    start = time.process_time()
    problems: list[str] = []
    try:
        problems = problems_of(sample, mutation)
        use(sample, mutation)
        outcome, detail = "sound", ""
    except _TYPED as error:
        named = mutation.path.rpartition("/")[2] in str(error) or ROOT in str(error)
        outcome, detail = "refused" if named else "file not named", str(error)
        if named and not problems:
            outcome = "refused, and check says ok"
    except HistoryPurgedError as error:
        # A history mark may lie above the commits that are left: those of durability 'off' can be
        # lost in a crash behind it. So one that was moved is no contradiction that can be found.
        outcome, detail = "refused", str(error)
    except BaseException as error:
        where = traceback.format_exception(error)
        outcome, detail = f"{type(error).__name__}", "".join(where[-6:])
    seconds = time.process_time() - start
    if seconds > SECONDS and outcome in ("refused", "sound"):
        outcome = "slow"
    return Verdict(number, outcome, seconds, f"{mutation.path} {mutation.what}\n{detail}")


def verdicts(mutations: int, first: int = 0) -> Iterator[Verdict]:
    """Verdicts over so many mutations."""
    sample = build()
    mutator = Mutator(sample.files)
    judge(sample, mutator, 0)  # loads what is loaded late, once for all children
    number, end = first, first + mutations
    while number < end:
        for verdict in _in_child(sample, mutator, number, min(number + _BATCH, end)):
            number = verdict.number + 1
            yield verdict


def _in_child(sample: Sample, mutator: Mutator, first: int, end: int) -> list[Verdict]:
    """The verdicts of a child over first <= number < end, up to the one it dies of."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        _limit_memory()
        for number in range(first, end):
            signal.alarm(_GIVE_UP_SECONDS)
            verdict = judge(sample, mutator, number)
            line = [verdict.number, verdict.outcome, verdict.seconds, verdict.detail[-3000:]]
            os.write(writer, json.dumps(line).encode() + b"\n")
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        found = [Verdict(*json.loads(line)) for line in pipe.read().splitlines()]
    _, status = os.waitpid(pid, 0)
    if status:
        number = first + len(found)
        mutation = mutator.mutation(number)
        what = f"{mutation.path} {mutation.what}"
        found.append(Verdict(number, f"died of signal {os.WTERMSIG(status)}", 0.0, what))
    return found


def _limit_memory() -> None:
    """Let the process take so much address space beyond what it has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main(mutations: int, first: int = 0) -> int:
    """Run the campaign and print what came of it; returns the number of findings."""
    outcomes: collections.Counter[str] = collections.Counter()
    slowest = 0.0
    for verdict in verdicts(mutations, first):
        outcomes[verdict.outcome] += 1
        slowest = max(slowest, verdict.seconds)
        if verdict.is_finding:
            print(f"mutation {verdict.number}: {verdict.outcome}: {verdict.detail}\n", flush=True)
    for outcome, count in outcomes.most_common():
        print(f"{count:8,} {outcome}")
    print(f"slowest: {slowest:.2f} s of processor time")
    return sum(count for name, count in outcomes.items() if name not in ("refused", "sound"))


if __name__ == "__main__":
    sys.exit(1 if main(*map(int, sys.argv[1:])) else 0)
