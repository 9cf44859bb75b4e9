"""The catalog that names of three parts begin with, `pykudu.default.t`: there is this one only."""

from collections.abc import Sequence

from pykudu_sql.storage.errors import SourceSpan, UndefinedTableError

CATALOG = "pykudu"  # as information_schema has it


def check_catalog(parts: Sequence[str], span: SourceSpan | None) -> None:
    """Check a table's name of more than two parts.

    Args:
        parts: of the name, as written.
        span: where it stands.

    Raises UndefinedTableError: it has more than three, or the first is not the catalog.
    """
    if len(parts) == 3 and parts[0].lower() == CATALOG:
        return
    message = f"catalog '{parts[0]}' does not exist"
    if len(parts) > 3:
        message = f"'{'.'.join(parts)}' has more names than a table"
    hint = f"a table is named table, database.table or {CATALOG}.database.table"
    raise UndefinedTableError(message, hint=hint, span=span)
