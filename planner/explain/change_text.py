"""MERGE, ON CONFLICT and RETURNING in EXPLAIN."""

from collections.abc import Iterator

from pykudu_sql.planner.plan.change_plans import (
    Change,
    ChangeBranch,
    ChangeQuery,
    ConflictInsert,
    InsertReturning,
    Returning,
)
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.common.rows.row_operation import RowOpKind


def change_head(plan: Change) -> str:
    """The line over a change: what it does to which table."""
    table = plan.table.name
    match plan:
        case ConflictInsert():
            if any(branch.kind is not RowOpKind.INSERT for branch in plan.change.branches):
                return f"INSERT OR UPDATE {table}"
            return f"INSERT OR IGNORE INTO {table}"
        case InsertReturning():
            return f"INSERT INTO {table}"
        case ChangeQuery(statement="DELETE"):
            return f"DELETE FROM {table}"
        case ChangeQuery(statement="MERGE"):
            return f"MERGE INTO {table}"
    return f"{plan.statement} {table}"


def change_details(plan: Change) -> Iterator[str]:
    """The lines below it: the branches, numbered as in the query, and what is shown."""
    returning: Returning | None
    branches: tuple[ChangeBranch, ...]
    match plan:
        case InsertReturning():
            returning, branches = plan.returning, ()
        case ConflictInsert():
            returning, branches = plan.change.returning, plan.change.branches
            yield f"rows with one key: {plan.repeated}"
        case ChangeQuery():
            returning, branches = plan.returning, plan.branches
    for number, branch in enumerate(branches):
        yield f"{number}: {_branch(plan.table, branch)}"
    if returning is not None:
        yield f"returning: {', '.join(returning.query.names)}"


def _branch(table: TableInfo, branch: ChangeBranch) -> str:
    kind = branch.kind.replace("_", " ")
    keys = frozenset() if branch.kind is RowOpKind.INSERT else table.schema.key_ids
    ids = [i for i, _ in (*branch.columns, *branch.constants) if i not in keys]
    names = [table.schema.by_id[i].name for i in ids]
    return f"{kind} {', '.join(names)}".rstrip()
