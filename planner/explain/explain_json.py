"""EXPLAIN (FORMAT JSON): the same facts as the text, for programs.

One JSON object: `operator` says what the statement is, `sql` what the embedded engine is given,
`operators` is the tree of what the embedded engine does, with estimates, and for ANALYZE rows and
times, whose leaves name scans; `lookup` says of a look-up by key which tablet it asks, what each
rowset answers, and where the row lies: blocks and deltas; `scans` is a list with an object for each
scan, `passes` one with what each pass of the planner changed, if requested, `rows` and
`milliseconds` are those of ANALYZE. In a session that may use Spark, `engine` names the engine,
`engine_sql` is what it is given, and `not_on_spark` says why it is not Spark. What is not known is
left out. Counts are numbers, conditions are text.
"""

import json
from dataclasses import asdict
from typing import Any

from pykudu_sql.planner.explain.explain import ExplainFacts, ScanFacts, explain
from pykudu_sql.planner.explain.predicate_text import predicate_text
from pykudu_sql.planner.operands.template import bind_predicate
from pykudu_sql.planner.plan.frame_table import is_stored
from pykudu_sql.planner.plan.plan import Explain, Plan, Query, Scan, scans_of
from pykudu_sql.storage.common.partition.partition_pruner import prune
from pykudu_sql.storage.common.predicate.scan_spec import ScanOrder
from pykudu_sql.storage.common.types.hybrid_time import last_before

_INDENT = 2


def explain_json(plan: Plan, facts: ExplainFacts) -> str:
    """The JSON text that describes a plan. `facts`: what is known beyond it, as for `explain`."""
    document: dict[str, Any] = {}
    if isinstance(plan, Explain):
        if plan.passes:
            document["passes"] = [asdict(each) for each in plan.passes]
        plan = plan.plan
    document["operator"] = explain(plan)[0]
    if isinstance(plan, Query):
        document["sql"] = plan.sql
    if facts.engine is not None:
        document["engine"] = facts.engine.name
        document["engine_sql"] = facts.engine.sql
        if facts.engine.reason is not None:
            document["not_on_spark"] = facts.engine.reason
    if facts.operators is not None:
        document["operators"] = facts.operators
    if facts.lookup is not None:
        document["lookup"] = facts.lookup
    document["scans"] = [_scan(scan, facts) for scan in scans_of(plan)]
    if facts.rows is not None:
        document["rows"] = facts.rows
    if facts.seconds is not None:
        document["milliseconds"] = round(facts.seconds * 1000, 3)
    return json.dumps(document, indent=_INDENT, ensure_ascii=False)


def _scan(scan: Scan, facts: ExplainFacts) -> dict[str, Any]:
    table = scan.table
    entry: dict[str, Any] = {"table": table.name, "name": scan.name}
    entry["columns"] = [table.schema.by_id[i].name for i in scan.column_ids]
    if not is_stored(table):
        return entry
    if scan.validity_ids:
        entry["null_tested"] = [c.name for c in table.schema.columns if c.id in scan.validity_ids]
    if scan.addressed:
        entry["row_addresses"] = True
    entry["tablets"] = len(table.tablets)
    if facts.parameters is not None:
        predicate = bind_predicate(scan.predicate, facts.parameters)
        entry["tablets_read"] = len(prune(table.schema, table.partition_schema, predicate))
    if scan.bound is not None:
        entry["as_of"] = last_before(scan.bound)
    if scan.history is not None:
        entry["history"] = asdict(scan.history)
    if scan.predicate is not None:
        entry["pushed"] = predicate_text(scan.predicate, table.schema)
    if scan.limit is not None:
        entry["limit"] = scan.limit
    if scan.order is not ScanOrder.NONE:
        entry["order"] = str(scan.order)
    return {**entry, **_runtime_facts(facts.scans.get(scan.name, ScanFacts()))}


def _runtime_facts(facts: ScanFacts) -> dict[str, Any]:
    """What the store knows of a scan, and what ANALYZE measured."""
    entry: dict[str, Any] = {}
    if facts.rowsets is not None:
        entry["rowsets"] = facts.rowsets
        entry["rowsets_in_key_range"] = facts.rowsets_read
    if facts.filtered_by:
        entry["narrowed_by"] = list(facts.filtered_by)
    if facts.stats is not None:
        entry["read"] = {**asdict(facts.stats), "blocks_read": facts.stats.blocks_read}
    if facts.rows is not None:
        entry["rows"] = facts.rows
    if facts.seconds is not None:
        entry["milliseconds"] = round(facts.seconds * 1000, 3)
    return entry
