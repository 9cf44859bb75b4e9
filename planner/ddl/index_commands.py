"""CREATE INDEX and DROP INDEX: skip indexes, which are attributes of a table's columns."""

from pykudu_sql.planner.bind.named_table import named_table
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import AlterTable, NoOperation
from pykudu_sql.storage.catalog.alter import CreateIndex, DropIndex, apply_steps
from pykudu_sql.storage.errors import NotSupportedError, UndefinedObjectError


def create_index(tokens: TokenStream, context: PlanContext) -> AlterTable:
    """`CREATE INDEX [IF NOT EXISTS] i ON t (a [ASC | DESC], ...)`.

    Raises NotSupportedError: UNIQUE, which would promise what nothing keeps; UndefinedTableError,
    UndefinedColumnError: a name is unknown; DuplicateObjectError: the table has an index of that
    name.
    """
    tokens.expect("CREATE")
    token = tokens.current
    if tokens.accept("UNIQUE"):
        raise NotSupportedError(
            "unique indexes are not supported: an index only says which rowsets to skip",
            hint="only the primary key is unique",
            span=token.span,
        )
    tokens.expect("INDEX")
    if tokens.ahead(1).word != "ON":
        tokens.accept("CONCURRENTLY")  # as always: others write meanwhile
    if_not_exists = tokens.accept("IF", "NOT", "EXISTS")
    token = tokens.current
    if tokens.at("ON") and tokens.ahead(1).word not in ("ON", ""):
        raise NotSupportedError(
            "an index without a name is not supported",
            hint="write CREATE INDEX name ON table (columns)",
            span=token.span,
        )
    name = tokens.name("the index's name")
    tokens.expect("ON")
    table = named_table(tokens, context)
    _refuse(tokens, "USING", "indexes have one form: leave it out")
    columns = _columns(tokens)
    _refuse(tokens, "WHERE", "an index is of all rows: leave it out")
    _refuse(tokens, "INCLUDE", "an index says which rowsets to skip; columns are read anyway")
    tokens.expect_end()
    statement = f"CREATE INDEX {name} ON {table.name} ({', '.join(columns)})"
    if if_not_exists and name in table.schema.indexes:
        return AlterTable(table, (), statement, message="Index already exists.")
    step = CreateIndex(name, columns)
    with errors_at(token.span):
        apply_steps(table, (step,))
    return AlterTable(table, (step,), statement, message="Index has been created.")


def _refuse(tokens: TokenStream, word: str, hint: str) -> None:
    if tokens.at(word):
        raise NotSupportedError(
            f"{word} of an index is not supported", hint=hint, span=tokens.current.span
        )


def drop_index(tokens: TokenStream, context: PlanContext) -> AlterTable | NoOperation:
    """`INDEX [IF EXISTS] i [ON t]`, DROP being read.

    Raises UndefinedObjectError: no table has it, or several have and none is named;
    UndefinedTableError: no such table.
    """
    tokens.expect("INDEX")
    if_exists = tokens.accept("IF", "EXISTS")
    token = tokens.current
    name = tokens.name("the index's name")
    among = list(context.catalog.tables.values())
    if tokens.accept("ON"):
        among = [named_table(tokens, context)]
    tokens.expect_end()
    indexed = [table for table in among if name in table.schema.indexes]
    if len(indexed) == 1:
        statement = f"DROP INDEX {name} ON {indexed[0].name}"
        step = DropIndex(name)
        return AlterTable(indexed[0], (step,), statement, message="Index has been dropped.")
    if not indexed and if_exists:
        return NoOperation(f"There is no index {name}.")
    span = token.span
    if indexed:
        raise UndefinedObjectError(
            f"index '{name}' is in {len(indexed)} tables",
            hint=f"write DROP INDEX {name} ON {indexed[0].name}",
            span=span,
        )
    names = (index for table in among for index in table.schema.indexes)
    hint = near(name, names) or "SELECT * FROM sys.indexes lists those there are"
    raise UndefinedObjectError(f"index '{name}' does not exist", hint=hint, span=span)


def _columns(tokens: TokenStream) -> tuple[str, ...]:
    tokens.expect_symbol("(")
    columns: list[str] = []
    while True:
        columns.append(tokens.name("a column name"))
        if tokens.at_symbol("("):
            raise NotSupportedError(
                "an index of an expression is not supported",
                hint="an index is of columns: store the value in one",
                span=tokens.current.span,
            )
        if not tokens.accept("ASC"):
            tokens.accept("DESC")
        if not tokens.accept_symbol(","):
            break
    tokens.expect_symbol(")")
    return tuple(columns)
