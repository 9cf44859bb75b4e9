"""A result as an HTML table for notebooks: names, types, rows, and how many more there are."""

import html
from collections.abc import Sequence

from pykudu_sql.storage.common.noun_count import noun_count


def html_table(
    names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[object]], length: int | None
) -> str:
    """The first rows of a result as HTML.

    Args:
        names, types: of the columns.
        rows: to be shown.
        length: rows of the result; None where that is not known.
    """
    head = "".join(
        f"<th>{html.escape(name)}<br><small>{html.escape(sql_type)}</small></th>"
        for name, sql_type in zip(names, types, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{_rest(rows, length)}"
    )


def _cell(value: object) -> str:
    return "<td><i>NULL</i></td>" if value is None else f"<td>{html.escape(str(value))}</td>"


def _rest(rows: Sequence[object], length: int | None) -> str:
    if length is None:
        return "<p>rows are computed as they are fetched</p>"
    if length > len(rows):
        return f"<p>{len(rows):,} of {length:,} rows</p>"
    return f"<p>{noun_count(length, 'row')}</p>"
