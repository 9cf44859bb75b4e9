"""Parts of a planned query as queries of their own: what they read, and their parameters."""

from dataclasses import replace

from sqlglot import exp

from pykudu_sql.planner.plan.query_plans import Query
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.planner.tree_nodes import nodes_of


def part_of(query: Query, tree: exp.Expr) -> Query:
    """The query with a part of its residual tree in place of all of it.

    `tree`: a copy, whose parameters get the numbers that they have in the part. Forms that were
    made of the whole tree stay in the result, for the caller to replace.
    """
    places = _number_parameters(tree)
    read = {table.name for table in nodes_of(tree, exp.Table)}
    return replace(
        query,
        sql=to_sql(tree),
        residual=tree,
        scans=tuple(scan for scan in query.scans if scan.name in read),
        parameters=tuple(query.parameters[place] for place in places),
        lists=tuple(each for each in query.lists if each[0] in read),
        compared_types=tuple(query.compared_types[place] for place in places),
        word_conditions=tuple(each for each in query.word_conditions if each.scan in read),
    )


def _number_parameters(tree: exp.Expr) -> list[int]:
    """Number the parameters of a part of a query anew; the places that they had in the whole."""
    numbers: dict[int, int] = {}
    for node in nodes_of(tree, exp.Placeholder):
        node.set("this", str(numbers.setdefault(int(node.name), len(numbers) + 1)))
    return [number - 1 for number in numbers]
