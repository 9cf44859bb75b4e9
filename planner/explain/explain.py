"""EXPLAIN: a plan as a tree of lines, with what its scans leave unread.

A pure function of a plan and of facts that the caller gathers: what the scans' parameters are,
how many rowsets each tablet scan meets, and for ANALYZE what came out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.explain.change_text import change_details, change_head
from pykudu_sql.planner.explain.key_text import key_text
from pykudu_sql.planner.explain.predicate_text import (
    column_names,
    matching_indexes,
    predicate_text,
)
from pykudu_sql.planner.operands.template import Waiting, bind_predicate
from pykudu_sql.planner.operands.value import ParameterValues
from pykudu_sql.planner.plan.frame_table import FrameTable
from pykudu_sql.planner.plan.plan import (
    ChangeQuery,
    ConflictInsert,
    CopyFrom,
    CopyTable,
    CopyTo,
    CreateTable,
    DeleteQuery,
    ExecutePrepared,
    Explain,
    InsertQuery,
    InsertReturning,
    InsertValues,
    KeyChange,
    KeyDelete,
    KeyInsert,
    KeyLookup,
    KeyUpdate,
    PassEffect,
    Plan,
    Query,
    RestoreTable,
    Scan,
    UpdateQuery,
)
from pykudu_sql.planner.plan.query_plans import HistoryWindow, TopRows, WordCondition
from pykudu_sql.storage.catalog.system_catalog import is_system
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.partition.partition_pruner import prune
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from pykudu_sql.storage.common.predicate.scan_stats import ScanStats
from pykudu_sql.storage.common.types.hybrid_time import last_before

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class ScanFacts:
    """Facts of one scan beyond its plan; None where there are none.

    Attributes:
        rowsets: how many rowsets its tablets have.
        rowsets_read: how many of them can hold matching rows.
        rows: rows it returned.
        seconds: time it took.
        stats: what it read and what it left unread.
        filtered_by: tables whose rows, read before, narrowed it.
    """

    rowsets: int | None = None
    rowsets_read: int | None = None
    rows: int | None = None
    seconds: float | None = None
    stats: ScanStats | None = None
    filtered_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """Facts of the engine of a query, in a session that may use another.

    Attributes:
        name: `spark` or `duckdb`.
        sql: what it is given.
        reason: why it is not Spark; None when it is.
        conditions: what each scan reads by on Spark, as SQL, by the scan's name.
    """

    name: str
    sql: str
    reason: str | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExplainFacts:
    """Facts of the store and of a run that EXPLAIN shows.

    Attributes:
        parameters: values for the plan's parameters; without them nothing is pruned by those.
        scans: facts by scan name.
        rows, seconds: of the whole statement, for ANALYZE.
        engine: of the query; None in a session that has only the embedded one.
        operators: of the embedded engine, as `explain_json` shows them; None if unknown.
        lookup: of a key, where its row lies, likewise.
    """

    parameters: ParameterValues | None = None
    scans: Mapping[str, ScanFacts] = field(default_factory=dict)
    rows: int | None = None
    seconds: float | None = None
    engine: EngineFacts | None = None
    operators: Mapping[str, Any] | None = None
    lookup: Mapping[str, Any] | None = None


NO_FACTS = ExplainFacts()


def explain(plan: Plan, facts: ExplainFacts = NO_FACTS) -> list[str]:
    """The lines that describe a plan."""
    lines = _lines(plan, facts)
    if facts.seconds is not None:
        rows = "" if facts.rows is None else f"{_rows(facts.rows)} in "
        lines.append(f"total: {rows}{facts.seconds * 1000:.1f} ms")
    return lines


def _pass_lines(passes: Sequence[PassEffect]) -> Iterator[str]:
    """What the passes did, each under its name."""
    for each in passes:
        yield each.name if each.lines else f"{each.name}: no change"
        yield from (f"{_INDENT}{line}" for line in each.lines)


def _lines(plan: Plan, facts: ExplainFacts) -> list[str]:
    match plan:
        case Explain():
            return [*_pass_lines(plan.passes), *_lines(plan.plan, facts)]
        case Query():
            return _query(plan, facts)
        case KeyLookup() | KeyUpdate() | KeyDelete() | KeyChange() | KeyInsert():
            text = key_text(plan)
            return _tree(text.head, text.details)
        case InsertValues():
            names = _names(plan.table, plan.column_ids)
            return _tree(
                f"{_kind(plan.kind)} INTO {plan.table.name}",
                [f"columns: {names}", f"VALUES: {_rows(plan.rows)}"],
            )
        case InsertQuery():
            head = f"{_kind(plan.kind)} INTO {plan.table.name}"
            names = _names(plan.table, plan.column_ids)
            return _tree(head, [f"columns: {names}", *_query(plan.query, facts)])
        case UpdateQuery():
            ids = (*plan.column_ids, *(column_id for column_id, _ in plan.constants))
            names = _names(plan.table, ids)
            return _tree(
                f"UPDATE {plan.table.name}", [f"columns: {names}", *_query(plan.query, facts)]
            )
        case DeleteQuery():
            return _tree(f"{plan.statement} {plan.table.name}", _query(plan.query, facts))
        case ChangeQuery():
            return _tree(change_head(plan), [*change_details(plan), *_query(plan.query, facts)])
        case InsertReturning():
            return _tree(change_head(plan), [*change_details(plan), *_lines(plan.rows, facts)])
        case ConflictInsert():
            below = [*_lines(plan.rows, facts), *_query(plan.change.query, facts)]
            return _tree(change_head(plan), [*change_details(plan), *below])
        case RestoreTable():
            lines = [f"as of: hybrid time {last_before(plan.bound)}"]
            lines += _tree("DELETE", _query(plan.deleted, facts))
            lines += _tree("WRITE", _query(plan.rows, facts))
            return _tree(f"RESTORE TABLE {plan.table.name}", lines)
        case CopyFrom():
            listed = ", ".join(column.name for column in plan.columns or ())
            head = f"COPY {plan.table.name} FROM '{plan.source}'"
            return _tree(head, [f"columns: {listed}"] if listed else [])
        case CopyTo():
            return _tree(f"COPY TO '{plan.target}'", _query(plan.query, facts))
        case CopyTable():
            return _lines(plan.general(), facts)
        case CreateTable() if plan.query is not None:
            return _tree(f"{plan.words} {plan.name}", _query(plan.query, facts))
        case ExecutePrepared():
            return [f"EXECUTE {plan.name}"]
    return [plan.headline]


def _query(query: Query, facts: ExplainFacts) -> list[str]:
    lines = _engine(query, facts.engine)
    for scan in query.scans:
        lines += [_INDENT + line for line in _scan(scan, facts)]
    return lines


def _engine(query: Query, facts: EngineFacts | None) -> list[str]:
    if facts is None:
        coded = () if query.coded is None else query.coded.columns
        keys = ", ".join(f"{column.column} ({column.scan})" for column in coded)
        by_codes = [f"grouped by codes if the words are few: {keys}"] if keys else []
        few = "few rows are read or selected" if query.is_selection else "few rows are read"
        unused = [] if query.scanned is None else [f"not used if {few}"]
        if query.counted:
            exact = " if it compares the parameters exactly" if query.parameters else ""
            unused.append(f"not used: the scan counts the rows{exact}")
        top = [] if query.top is None else [_top(query.top, query.scans[0])]
        top += [_top(scan.top, scan) for scan in query.scans if scan.top is not None]
        early = () if query.early is None else query.early.subqueries
        first = [
            f"computed first if {each.narrowing.target} is large: the subquery over "
            f"{', '.join(scan.name for scan in each.query.scans)}"
            for each in early
            if each.narrowing is not None
        ]
        first += [_by_words(each, query.scans) for each in query.word_conditions]
        by_key = [] if query.sorted_groups is None else [_by_key(query.scans[0])]
        return _tree("ENGINE", [f"sql: {query.sql}", *by_codes, *by_key, *first, *top, *unused])
    details = [] if facts.reason is None else [f"not on Spark: {facts.reason}"]
    return _tree(f"ENGINE {facts.name}", [*details, f"sql: {facts.sql}"])


def _by_words(condition: WordCondition, scans: Sequence[Scan]) -> str:
    scan = next(each for each in scans if each.name == condition.scan)
    column = scan.table.schema.by_id[condition.column_id].name
    return f"filtered by words of {column} if {scan.name} is large and they are few"


def _by_key(scan: Scan) -> str:
    return f"grouped by the scan if {scan.name} is large and rows of a group lie together"


def _top(top: TopRows, scan: Scan) -> str:
    column = scan.table.schema.by_id[top.column_id]
    order = " DESC" if top.descending else ""
    return f"narrowed if {scan.name} is large: to {_rows(top.rows)} by {column.name}{order}"


def _scan(scan: Scan, facts: ExplainFacts) -> list[str]:
    table = scan.table
    scan_facts = facts.scans.get(scan.name, ScanFacts())
    if isinstance(table, FrameTable):
        return _tree(f"FRAME {table.name} ({scan.name})", [])
    if is_system(table):
        return _tree(f"SYSTEM TABLE {table.name} ({scan.name})", [])
    details = [_pruning(scan, facts)]
    if scan_facts.rowsets is not None:
        read = scan_facts.rowsets if scan_facts.rowsets_read is None else scan_facts.rowsets_read
        details.append(f"rowsets: {read} of {scan_facts.rowsets}")
    if scan.bound is not None:
        details.append(f"as of: hybrid time {last_before(scan.bound)}")
    if scan.history is not None:
        details.append(_window(scan.history))
    if scan.predicate is not None:
        details.append(f"pushed: {predicate_text(scan.predicate, table.schema)}")
        if facts.engine is not None and scan.name in facts.engine.conditions:
            details.append(f"read where: {facts.engine.conditions[scan.name]}")
        indexes = matching_indexes(scan.predicate, table.schema)
        details += [f"skip indexes: {', '.join(indexes)}"] if indexes else []
    if scan.limit is not None:
        details.append(f"limit: {scan.limit}")
    if scan.order is not ScanOrder.NONE:
        details.append(f"order: by {scan.order}")
    names = column_names(scan)
    details.append(f"columns: {', '.join([*names, 'row addresses'] if scan.addressed else names)}")
    if scan_facts.filtered_by:
        details.append(f"narrowed by: rows of {', '.join(scan_facts.filtered_by)}")
    if scan_facts.stats is not None:
        details += _read(scan_facts.stats)
    if scan_facts.rows is not None:
        took = "" if scan_facts.seconds is None else f" in {scan_facts.seconds * 1000:.1f} ms"
        details.append(f"returned: {_rows(scan_facts.rows)}{took}")
    return _tree(f"SCAN {table.name} ({scan.name})", details)


def _window(history: HistoryWindow) -> str:
    """What of a table's history is read."""
    low = "where history begins" if history.low is None else f"hybrid time {history.low}"
    high = "now" if history.high is None else f"before {history.high}"
    return f"{history.kind}: from {low} to {high}"


def _read(stats: ScanStats) -> list[str]:
    """What a scan did, a line for each thing that can be large."""
    return [
        f"rowsets read: {stats.rowsets - stats.rowsets_pruned} of {stats.rowsets}",
        *([f"skipped by index: {stats.index_skips}"] if stats.index_skips else []),
        f"blocks read: {stats.blocks_read} of {stats.blocks}",
        f"decoded: {stats.blocks_decoded} {_plural('block', stats.blocks_decoded)}, "
        f"{stats.bytes_decoded} bytes",
        f"deltas applied: {stats.deltas_applied}",
        f"scanned: {_rows(stats.rows_scanned)}",
    ]


def _pruning(scan: Scan, facts: ExplainFacts) -> str:
    table = scan.table
    total = len(table.tablets)
    template = scan.predicate
    if isinstance(template, Waiting) and facts.parameters is None:
        return f"tablets: up to {total} of {total}, known when the parameters are"
    predicate = bind_predicate(template, () if facts.parameters is None else facts.parameters)
    scanned = len(prune(table.schema, table.partition_schema, predicate))
    return f"tablets: {scanned} of {total}"


def _tree(head: str, below: Sequence[str]) -> list[str]:
    return [head, *(_INDENT + line for line in below)]


def _names(table: TableInfo, column_ids: Sequence[int]) -> str:
    return ", ".join(table.schema.by_id[i].name for i in column_ids)


def _kind(kind: str) -> str:
    return kind.replace("_", " ")


def _rows(count: int) -> str:
    return f"{count} {_plural('row', count)}"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else word + "s"
