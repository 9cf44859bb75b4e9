"""Statements of Impala and SQLite that are no-ops here, so that scripts run as they are.

Statistics are computed when they are queried, and there is no second copy of the metadata.
"""

from pykudu_sql.planner.bind.missing_column import undefined_column
from pykudu_sql.planner.bind.named_table import named_table
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import NoOperation, Plan


def compute_stats(tokens: TokenStream, context: PlanContext) -> Plan:
    """`COMPUTE [INCREMENTAL] STATS t [(columns)]`."""
    tokens.expect("COMPUTE")
    tokens.accept("INCREMENTAL")
    tokens.expect("STATS")
    table = named_table(tokens, context)
    for name in tokens.names() if tokens.at_symbol("(") else ():
        if name not in table.schema.by_name:
            raise undefined_column(name, table.schema.by_name, None)
    tokens.expect_end()
    return NoOperation("Statistics are always up to date: SHOW COLUMN STATS computes them.")


def drop_stats(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DROP [INCREMENTAL] STATS t`."""
    tokens.expect("DROP")
    tokens.accept("INCREMENTAL")
    tokens.expect("STATS")
    named_table(tokens, context)
    tokens.expect_end()
    return NoOperation("Statistics are computed when they are queried; none are kept.")


def analyze(tokens: TokenStream, context: PlanContext) -> Plan:
    """`ANALYZE [[TABLE] t]` of SQLite and Spark, also with `COMPUTE STATISTICS [...]`."""
    tokens.expect("ANALYZE")
    tokens.accept("TABLE")
    if not tokens.at_end():
        named_table(tokens, context)
    if tokens.accept("COMPUTE", "STATISTICS"):
        while not tokens.at_end():
            tokens.take()
    tokens.expect_end()
    return NoOperation("Statistics are always up to date: SHOW COLUMN STATS computes them.")


def invalidate_metadata(tokens: TokenStream, context: PlanContext) -> Plan:
    """`INVALIDATE METADATA [t]`."""
    tokens.expect("INVALIDATE", "METADATA")
    if not tokens.at_end():
        named_table(tokens, context)
        tokens.expect_end()
    return NoOperation("Metadata are always up to date.")


def refresh(tokens: TokenStream, context: PlanContext) -> Plan:
    """`REFRESH [TABLE] t`."""
    tokens.expect("REFRESH")
    tokens.accept("TABLE")
    named_table(tokens, context)
    tokens.expect_end()
    return NoOperation("Metadata are always up to date.")
