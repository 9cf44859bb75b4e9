"""The operators of a query in the engine, as a tree: what it plans, and what a run measured.

The engine's own description, in the names that people know: what only passes rows on is left out.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pykudu_sql.dataclass import dataclass

_PASSING = frozenset({"RESULT_COLLECTOR", "EXPLAIN_ANALYZE", "PROJECTION"})
_ESTIMATED = "Estimated Cardinality"
_OMITTED = frozenset({_ESTIMATED, "Projections", "Function", "Text", "Scan Type"})
_SCAN = "ARROW_SCAN"
_TABLE_SCAN = "TABLE_SCAN"
_PLACES = re.compile(r"(?:#\d+(?:, )?)*")  # of columns among those below, which tells nobody much


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator.

    Attributes:
        name: such as `HASH_JOIN`.
        details: what it does, by what that is called: `Conditions`, `Groups`.
        estimated_rows: that the engine expects of it; None if it has no idea.
        rows: that it gave; None if it has not run.
        seconds: of the processor, without its inputs; None likewise.
        columns: of a relation, where it reads one.
        inputs: operators whose rows it takes.
    """

    name: str
    details: Mapping[str, str]
    estimated_rows: int | None
    rows: int | None
    seconds: float | None
    columns: tuple[str, ...] | None
    inputs: "tuple[Operator, ...]"


def operators_of(description: str) -> Operator | None:
    """The tree that the engine describes as JSON; None if it is another kind of description."""
    document = json.loads(description)
    roots = document.get("operator", ()) if isinstance(document, dict) else document
    operators = [operator for root in roots for operator in _operators(root)]
    return operators[0] if len(operators) == 1 else None


def _operators(node: Mapping[str, Any]) -> "list[Operator]":
    """An operator, or those below one that is left out."""
    inputs = tuple(each for child in node.get("children", ()) for each in _operators(child))
    name = _name(node)
    took = node.get("timing")
    if name in _PASSING and len(inputs) == 1:
        return [replace(inputs[0], seconds=_sum(inputs[0].seconds, took))]
    extra = node.get("extra_info") or {}
    columns = None
    if _SCAN in name:
        columns = tuple(_texts(extra.get("Projections")))
    displayed = {
        key: ", ".join(_texts(value)) for key, value in extra.items() if key not in _OMITTED
    }
    details = {key: text for key, text in displayed.items() if not _PLACES.fullmatch(text)}
    estimated = str(extra.get(_ESTIMATED, "")).lstrip("~")
    rows = node.get("intermediate_rows")
    return [
        Operator(
            name,
            details,
            int(estimated) if estimated.isdecimal() else None,
            None if rows is None else int(rows),
            None if took is None else float(took),
            columns,
            inputs,
        )
    ]


def _name(node: Mapping[str, Any]) -> str:
    """An operator's name; DuckDB 2.0.0 gives a run's operators types instead, as all scans have."""
    name = node.get("name")
    if name is None and node.get("type") == _TABLE_SCAN:
        name = (node.get("extra_info") or {}).get("Function", _SCAN)
    return str(name or node.get("type") or "").strip().upper().replace(" ", "_")


def _sum(one: float | None, other: float | None) -> float | None:
    return one if other is None else other + (one or 0.0)


def _texts(value: Any) -> Sequence[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value or "")]
