"""The one node of a statement that can be meant by an error; of several nobody knows which."""

import re
from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp

from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.storage.errors import SourceSpan

# What lists the nodes of a statement that a message may be about, by the form of the message.
Candidates = Callable[[re.Match[str], exp.Expr], Iterable[exp.Expr]]
CandidateTable = Mapping[re.Pattern[str], Candidates]


def candidate_table(*entries: tuple[str, Candidates]) -> CandidateTable:
    """A table by patterns, of which the first that begins a message counts."""
    return {re.compile(pattern): candidates for pattern, candidates in entries}


def span_of_candidate(table: CandidateTable, message: str, tree: exp.Expr) -> SourceSpan | None:
    """Where the one node stands that a message is about; None: there are several, or none.

    `message`: of the engine; `tree`: of the statement.
    """
    for pattern, candidates in table.items():
        match = pattern.match(message)
        if match is not None:
            return only_span(candidates(match, tree))
    return None


def only_span(nodes: Iterable[exp.Expr]) -> SourceSpan | None:
    """Where a node stands that is the only one."""
    matches = list(nodes)
    return node_span(matches[0]) if len(matches) == 1 else None
