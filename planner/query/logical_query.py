"""A query between binding and its physical plan: the value that rewrite passes take and return."""

from collections.abc import Mapping
from dataclasses import field, replace

import pyarrow as pa
from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.bound_query import BoundQuery
from pykudu_sql.planner.bind.relations import TableReference
from pykudu_sql.planner.operands.template import PredicateTemplate
from pykudu_sql.planner.operands.value import ComputedNumbers, Parameter, ParameterKey, United
from pykudu_sql.planner.plan.query_plans import CodedColumn, Scan, ScannedRows, TopRows
from pykudu_sql.planner.pushdown.early_subqueries import EarlyMark
from pykudu_sql.planner.pushdown.limit_pushdown import RowLimit
from pykudu_sql.planner.pushdown.runtime_filters import Equality
from pykudu_sql.planner.pushdown.words.word_conditions import WordColumn
from pykudu_sql.planner.query.node_index import NodeIndex
from pykudu_sql.planner.types.expression_types import (
    ExpressionTypes,
    have_decimals,
    writes_decimal,
)
from pykudu_sql.storage.common.predicate.scan_spec import Summary
from pykudu_sql.storage.common.types.types import DataType


@dataclass(frozen=True, eq=False, slots=True)
class LogicalQuery:
    """A bound query with what passes have worked out so far.

    Attributes:
        bound: what binding learnt. Its lists of nodes hold until the rules of compatibility have
            replaced nodes.
        tree: of the query. A pass owns it: it may change it in place and hands it on.
        nodes: of the tree, by class; made anew where a pass changes which there are.
        first_scan: the number of the first scan; other queries of the statement have those below.
        predicates: what is pushed to each mention of a table.
        decided: the mentions whose predicate decides a WHERE; see `pushdown.Pushed`.
        equalities: of columns of two mentions, by which one may narrow the other.
        limit: how far the one table must be read; None for all of it.
        top: the first rows that it needs of the one table; None for all, or where `limit` says it.
        summary: what each column summarizes of the one table; nothing if one is no summary.
        scanned: what the rows of the one table's scan are to the query, if they are all it needs.
        counted: columns, all of which count the rows that match; see `Query`.
        types: of its expressions; None before somebody may ask for them.
        scans: of the tables, in the order of their names.
        scan_names: the scan of each mention.
        early: the subqueries that may be computed first.
        group_keys: the text columns that groups may be made of by their codes.
        word_columns: the text columns with conditions that their words may decide.
        lists: the relations of long IN lists, by name.
        compared: the parameters that stand beside stored columns, with these.
        assigned: the parameters that become cells of columns, with these.
        computed: from parameters, the numbers that get one type with decimals.
        parameters: the keys behind `$1`, `$2`, ...
        parameter_types: of the number columns that these are compared with, None for none.
    """

    bound: BoundQuery
    tree: exp.Expr
    nodes: NodeIndex
    first_scan: int = 0
    predicates: Mapping[TableReference, PredicateTemplate] = field(default_factory=dict)
    decided: frozenset[TableReference] = frozenset()
    equalities: tuple[Equality, ...] = ()
    limit: RowLimit | None = None
    top: TopRows | None = None
    summary: tuple[Summary, ...] = ()
    scanned: ScannedRows | None = None
    counted: int = 0
    types: ExpressionTypes | None = None
    scans: tuple[Scan, ...] = ()
    scan_names: Mapping[TableReference, str] = field(default_factory=dict)
    early: tuple[EarlyMark, ...] = ()
    group_keys: tuple[CodedColumn, ...] = ()
    word_columns: tuple[WordColumn, ...] = ()
    lists: tuple[tuple[str, pa.Table], ...] = ()
    compared: tuple[Parameter, ...] = ()
    assigned: tuple[Parameter, ...] = ()
    computed: tuple[ComputedNumbers, ...] = ()
    parameters: tuple[ParameterKey, ...] = ()
    parameter_types: tuple[DataType | United | None, ...] = ()

    @classmethod
    def of(cls, bound: BoundQuery, first_scan: int) -> "LogicalQuery":
        """A query as it was bound, before any pass."""
        return cls(bound, bound.tree, NodeIndex(bound.tree), first_scan)

    def with_tree(self, tree: exp.Expr) -> "LogicalQuery":
        """The same with another tree, or with its own that has other nodes now."""
        if tree is self.tree:
            self.nodes.renew()
            return self
        return replace(self, tree=tree, nodes=NodeIndex(tree))

    def has_decimals(self) -> bool:
        """Whether a DECIMAL is read from a table or written; without one no expression is one."""
        return (
            self.bound.reads_decimals()
            or any(map(writes_decimal, self.nodes.all(exp.Literal, exp.DataType)))
            or have_decimals(self.bound.supplies)
        )
