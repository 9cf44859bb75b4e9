"""Conditions of a join by the names of columns: a pure function of the tables' columns."""

from collections.abc import Iterator, Mapping, Sequence

# (alias of a table in the statement, its name)
AliasedTable = tuple[str, str]


def join_conditions(
    joined: AliasedTable,
    before: Sequence[AliasedTable],
    columns: Mapping[str, Sequence[str]],
    keys: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """Conditions that join a table with those before it, the likeliest first.

    First `customer_id` beside the key `id` of `customers`, then columns of one name of which one
    is a key, then other columns of one name.

    Args:
        joined, before: the tables.
        columns, keys: of tables, by name.
    """
    alias, table = joined
    references: list[str] = []
    shared_keys: list[str] = []
    others: list[str] = []
    for other_alias, other in before:
        for column in columns.get(other, ()):
            for joined_column in columns.get(table, ()):
                condition = f"{other_alias}.{column} = {alias}.{joined_column}"
                is_key = column in keys.get(other, ()) or joined_column in keys.get(table, ())
                if column == joined_column:
                    (shared_keys if is_key else others).append(condition)
                elif _refers(column, table, joined_column, keys) or _refers(
                    joined_column, other, column, keys
                ):
                    references.append(condition)
    yield from references
    yield from shared_keys
    yield from others


def _refers(column: str, table: str, key: str, keys: Mapping[str, Sequence[str]]) -> bool:
    """Whether a column names the only key of a table, as `customer_id` does `customers.id`."""
    if tuple(keys.get(table, ())) != (key,):
        return False
    name = table.rpartition(".")[2].lower()
    singular = name[:-1] if name.endswith("s") else name
    return column.lower() in (f"{singular}_{key}".lower(), f"{name}_{key}".lower())
