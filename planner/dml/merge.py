"""MERGE: rows of a source that update, delete or insert rows of a table.

One query joins table and source as widely as the clauses need: rows of the source without a match
are kept for WHEN NOT MATCHED, rows of the table without one for WHEN NOT MATCHED BY SOURCE. A CASE
over the clauses in their order gives each row its branch; DO NOTHING gives it none.

As the standard has it, a row of the table that two rows of the source would update or delete is an
error; rows that no clause takes do not count.
"""

import re
from collections.abc import Sequence

from sqlglot import exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.bind.binder import bind
from pykudu_sql.planner.bind.correlation_name import (
    CorrelationName,
    name_of_relation,
    name_of_target,
)
from pykudu_sql.planner.bind.relations import NAMED_DATABASE, Relation
from pykudu_sql.planner.bind.target import mentioned_table
from pykudu_sql.planner.dml.assignments import Assignment, assigned_value, read_assignments
from pykudu_sql.planner.dml.change_query import BranchDraft, draft, select_drafted, setting
from pykudu_sql.planner.dml.default_values import depends_on_moment
from pykudu_sql.planner.dml.insert_columns import check_required, insert_columns
from pykudu_sql.planner.dml.merge_sides import (
    is_by_source,
    is_by_target,
    settle_names,
)
from pykudu_sql.planner.dml.returning import PRESENT, ReturnedRows, read_returning
from pykudu_sql.planner.functions.query_forms import is_from_item, without_parentheses
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.source_spans import node_span
from pykudu_sql.planner.parse.source_text import SourceText
from pykudu_sql.planner.plan.change_plans import ChangeQuery
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.query.query import finish
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.noun_count import noun_count
from pykudu_sql.storage.common.rows.row_operation import RowOpKind
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.errors import (
    NotSupportedError,
    ProgrammingError,
    SourceSpan,
    StatementTooComplexError,
    SyntaxError,
    UndefinedTableError,
)

MAX_BRANCHES = 100
_WHEN = re.compile(r"\bWHEN\b", re.IGNORECASE)
_SOURCE = "source"  # what a query without a name is called


@dataclass(frozen=True, slots=True)
class _Merge:
    """What the clauses are about.

    Attributes:
        name: what the statement calls it.
        source: what the statement calls the source.
        source_names: the source's columns.
        marked: whether the source has a column that marks its rows, as against NULLs of an outer
            join.
    """

    table: TableInfo
    name: CorrelationName
    source: CorrelationName
    source_names: tuple[str, ...]
    marked: bool
    context: PlanContext

    def keys(self) -> list[tuple[int, exp.Expr]]:
        """The table's key columns by id."""
        return [(c.id, self.target_column(c)) for c in self.table.schema.key_columns]

    def target_column(self, column: ColumnSchema) -> exp.Column:
        """A column of the table, qualified."""
        return self.name.column(column.name)

    def kind(self, when: exp.When) -> exp.Expr:
        """Whether a row of the join is of the kind that a clause is about."""
        key = self.target_column(self.table.schema.key_columns[0])
        in_table = exp.Not(this=exp.Is(this=key, expression=exp.Null()))
        present = self.source.column(PRESENT)
        if not when.args.get("matched"):
            absent = present if when.args.get("source") else key
            return exp.Is(this=absent.copy(), expression=exp.Null())
        return exp.and_(in_table, present, copy=False) if self.marked else in_table


def _parsed(source: SourceText) -> exp.Expr:
    """The tree of a MERGE. Raises SyntaxError: it is none, or has nothing to do."""
    try:
        return parse(source.text, source.start)
    except SyntaxError:
        if _WHEN.search(source.text):
            raise
        raise SyntaxError(
            "MERGE lacks what it does",
            hint="write WHEN MATCHED THEN UPDATE SET .., WHEN NOT MATCHED THEN INSERT VALUES (..)",
            span=SourceSpan(len(source.text)),
        ) from None


def plan_merge(source: SourceText, context: PlanContext) -> ChangeQuery:
    """Plan a MERGE.

    Raises SyntaxError: a clause is wrong; UndefinedTableError, UndefinedColumnError: a name is
    unknown; ProgrammingError: a key column is updated, or a name is ambiguous; DataError,
    NotNullError: a constant does not fit its column.
    """
    tree = _parsed(source)
    if (
        not isinstance(tree, exp.Merge)
        or not isinstance(tree.this, exp.Table)
        or not (tree.args.get("on") or tree.args.get("using_cond"))
    ):
        raise SyntaxError("MERGE INTO table USING source ON condition WHEN ... is expected")
    table = mentioned_table(tree.this, context)
    volatile = depends_on_moment(tree, table)
    whens: list[exp.When] = tree.args["whens"].expressions
    if len(whens) > MAX_BRANCHES:
        raise StatementTooComplexError(
            f"{len(whens)} WHEN clauses are more than the {MAX_BRANCHES} allowed in a MERGE",
            hint="write the cases as a CASE of the values that are set",
        )
    relation = _source(tree, context)
    merge = _Merge(
        table,
        name_of_target(tree.this, table),
        name_of_relation(relation),
        tuple(name.lower() for name in relation.column_names()),
        any(is_by_source(when) for when in whens),
        context,
    )
    _check_sides(merge, tree, whens)
    drafts, action = _branches(merge, whens)
    select = _joined(merge, tree, whens)
    returned = None
    if tree.args.get("returning") is not None:
        items = tree.args["returning"].expressions
        returned = read_returning(items, select, tree.this, context)
    return _finished(merge, select, action, drafts, returned, volatile)


def _finished(
    merge: _Merge,
    select: exp.Select,
    action: exp.Expr,
    drafts: Sequence[BranchDraft],
    returned: ReturnedRows | None,
    volatile: bool,
) -> ChangeQuery:
    drafted = draft(action, drafts, merge.table, merge.name, returned)
    select_drafted(select, drafted, merge.table, merge.context)
    bound = bind(select, merge.context).with_volatility(volatile)
    query = finish(bound, merge.context)
    return ChangeQuery(merge.table, query, drafted.branches, "MERGE", drafted.returning)


def _source(tree: exp.Merge, context: PlanContext) -> Relation:
    """The source, bound alone; it gets a name in the tree if it has none.

    Raises NotSupportedError: it is a join in parentheses; else see `bind`.
    """
    using = tree.args["using"]
    while _is_table_in_parentheses(using):
        using = without_parentheses(using)
    is_query = isinstance(using, exp.Values) or (
        isinstance(using, exp.Subquery) and not is_from_item(using.this)
    )
    if is_query and not using.alias:
        using.set("alias", exp.TableAlias(this=exp.to_identifier(_SOURCE)))
    probe = exp.Select(
        expressions=[exp.Star()],
        from_=exp.From(this=using.copy()),
        with_=tree.args["with_"].copy() if tree.args.get("with_") else None,
    )
    relations = bind(probe, context).scope_of(probe).relations
    if len(relations) > 1:
        raise NotSupportedError(
            "MERGE takes one source, and this is a join",
            hint="write it as a query: USING (SELECT .. FROM a JOIN b ..) AS s",
            span=node_span(using),
        )
    return relations[0]


def _is_table_in_parentheses(node: exp.Expr) -> bool:
    return (
        isinstance(node, exp.Subquery)
        and is_from_item(node.this)
        and not (node.alias or node.args.get("joins") or node.this.args.get("joins"))
    )


def _joined(merge: _Merge, tree: exp.Merge, whens: Sequence[exp.When]) -> exp.Select:
    """FROM of the query: table and source, with the rows that have no match where they count."""
    unmatched = any(is_by_target(w) for w in whens)
    source = _marked(merge, tree.args["using"]) if merge.marked else tree.args["using"]
    side = {(True, True): "FULL", (True, False): "RIGHT", (False, True): "LEFT"}
    join = exp.Join(this=source, side=side.get((unmatched, merge.marked)))
    if tree.args.get("using_cond"):
        join.set("using", [exp.to_identifier(c.name) for c in tree.args["using_cond"]])
    else:
        join.set("on", tree.args["on"])
    return exp.Select(from_=exp.From(this=tree.this), joins=[join], with_=tree.args.get("with_"))


def _marked(merge: _Merge, source: exp.Expr) -> exp.Subquery:
    """The source with a column that marks its rows, as against the NULLs of an outer join."""
    marked = exp.Select(
        expressions=[exp.Star(), exp.alias_(exp.true(), PRESENT, quoted=True)],
        from_=exp.From(this=source),
    )
    name = exp.to_identifier(merge.source.alias)
    marked_source = exp.Subquery(this=marked, alias=exp.TableAlias(this=name))
    marked_source.meta[NAMED_DATABASE] = merge.source.database
    return marked_source


def _branches(merge: _Merge, whens: Sequence[exp.When]) -> tuple[list[BranchDraft], exp.Expr]:
    """The branches, and the CASE that chooses among them."""
    drafts: list[BranchDraft] = []
    cases: list[exp.If] = []
    for when in whens:
        condition = _condition(merge, when)
        drafted = _draft(merge, when)
        number: exp.Expr = exp.Null()
        if drafted is not None:
            number = exp.Literal.number(len(drafts))
            drafts.append(drafted)
        cases.append(exp.If(this=condition, true=number))
    return drafts, exp.Case(ifs=cases)


def _condition(merge: _Merge, when: exp.When) -> exp.Expr:
    both = [merge.kind(when)]
    if when.args.get("condition") is not None:
        both.append(exp.Paren(this=when.args["condition"]))
    return exp.and_(*both, copy=False)


def _draft(merge: _Merge, when: exp.When) -> BranchDraft | None:
    """A clause's branch; None for DO NOTHING."""
    then = when.args["then"]
    of_table = bool(when.args.get("matched") or when.args.get("source"))
    match then:
        case exp.Update() if of_table:
            return setting(RowOpKind.UPDATE, merge.keys(), _updates(merge, when))
        case exp.Insert() if not of_table:
            return setting(RowOpKind.INSERT, (), _insertion(merge, then))
        case exp.Var():
            word = then.name.upper()
            if word == "DELETE" and of_table:
                return BranchDraft(RowOpKind.DELETE, merge.keys())
            if word == "DO NOTHING":
                return None
    what = then.name.upper() if isinstance(then, exp.Var) else then.key.upper()
    where = "WHEN MATCHED" if of_table else "WHEN NOT MATCHED"
    raise SyntaxError(
        f"{what} cannot follow {where}",
        hint="matched rows take UPDATE SET, DELETE or DO NOTHING, others INSERT or DO NOTHING",
        span=node_span(then),
    )


def _updates(merge: _Merge, when: exp.When) -> list[Assignment]:
    then = when.args["then"]
    items = then.args.get("expressions")
    if not items:
        raise SyntaxError(
            "UPDATE in MERGE needs SET",
            hint="UPDATE SET column = value, ..., or UPDATE SET * for all columns of the source",
            span=node_span(then),
        )
    if isinstance(items, exp.Star) or isinstance(items[0], exp.Star):
        schema = merge.table.schema
        if is_by_source(when):
            raise UndefinedTableError(
                f"UPDATE SET * takes the columns of '{merge.source.alias}', which has no row here",
                hint="WHEN NOT MATCHED BY SOURCE sets columns to values: SET column = value",
                span=node_span(then),
            )
        return [
            Assignment(column, merge.source.column(column.name), False)
            for column in _from_source(merge)
            if column.id not in schema.key_ids and not column.immutable
        ]
    return read_assignments(items, merge.table, merge.name, RowOpKind.UPDATE, merge.context)


def _from_source(merge: _Merge) -> list[ColumnSchema]:
    """The columns that table and source both have, for `*`.

    Raises ProgrammingError: the source lacks one of the table.
    """
    columns = list(merge.table.schema.visible_columns)
    for column in columns:
        if column.name not in merge.source_names:
            raise ProgrammingError(
                f"the source has no column '{column.name}', which * sets",
                hint="name the columns instead of *",
                sqlstate="42703",
            )
    return columns


def _insertion(merge: _Merge, then: exp.Insert) -> list[Assignment]:
    """The values of an INSERT."""
    listed, values = then.args.get("this"), then.args.get("expression")
    if isinstance(listed, exp.Star):
        return [Assignment(c, merge.source.column(c.name), False) for c in _from_source(merge)]
    if not values:
        raise SyntaxError(
            "INSERT in MERGE needs VALUES (...)",
            hint="or * for all columns of the source",
            span=node_span(then),
        )
    columns = insert_columns(merge.table, listed)
    for node in listed.find_all(exp.Column) if listed is not None else ():
        merge.name.check_owns(node, "INSERT fills")
    cells = list(values.expressions) if isinstance(values, exp.Tuple) else [values.this]
    if len(cells) != len(columns):
        raise ProgrammingError(
            f"INSERT has {noun_count(len(cells), 'value')} for "
            f"{noun_count(len(columns), 'column')}",
            hint=f"columns are {', '.join(column.name for column in columns)}",
            sqlstate="42601",
        )
    check_required(merge.table, columns, node_span(then))
    return [
        assigned_value(column, cell, merge.context)
        for column, cell in zip(columns, cells, strict=True)
    ]


def _check_sides(merge: _Merge, tree: exp.Merge, whens: Sequence[exp.When]) -> None:
    """See that clauses name what has a row; names without a qualifier mean that.

    Raises UndefinedTableError: a clause names the side that has none.
    """
    of_source = [when for when in whens if is_by_target(when)]
    of_table = [when for when in whens if is_by_source(when)]
    settle_names(of_source, tree, 0, merge.source, merge.context)
    settle_names(of_table, tree, 1, merge.name, merge.context)
