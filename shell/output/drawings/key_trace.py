"""Where the row of a key lies, as lines: what EXPLAIN (FORMAT JSON) says of a look-up. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from pykudu_sql.shell.output.spans import Line, Role, Span
from pykudu_sql.storage.common.noun_count import noun_count

_NO = {
    "key range": "the key is outside its range of keys",
    "bloom filter": "its bloom filter says no",
    "key index": "it may have it by its bloom filter, and has not by its key index",
    "memory": "it is not among its rows",
}


def trace_lines(lookup: Mapping[str, Any]) -> Iterator[Line]:
    """The lines of a look-up."""
    if lookup["tablet"] is None:
        yield (Span("No partition covers the key."),)
        return
    tablets = lookup["tablets"]
    yield (
        Span(f"tablet {lookup['tablet']}", Role.NAME),
        Span(f" of {tablets:,}  {lookup['tablet_id']}", Role.FRAME),
    )
    rowsets = lookup["rowsets"]
    skipped = [each for each in rowsets if each["answer"] == "key range"]
    for each in rowsets:
        if each["answer"] != "key range":
            yield from _rowset(each)
    if skipped:
        yield (Span(f"  {noun_count(len(skipped), 'rowset')}: {_NO['key range']}", Role.FRAME),)
    if not any("row" in each["answer"].split() for each in rowsets):
        yield (Span("No rowset has the key."),)


def _rowset(rowset: Mapping[str, Any]) -> Iterator[Line]:
    name = f"  {rowset['kind']} {rowset['rowset_id']}"
    if rowset["ordinal"] is None:
        yield (Span(f"{name}: {_NO[rowset['answer']]}", Role.FRAME),)
        return
    is_alive = rowset["answer"] == "row"
    yield (
        Span(name, Role.NAME),
        Span(f": {'the row' if is_alive else 'a deleted row'}", Role.NEW if is_alive else Role.OLD),
        Span(f", ordinal {rowset['ordinal']:,}, of {noun_count(rowset['rows'], 'row')}"),
    )
    columns_of: dict[tuple[int, int], list[str]] = {}
    for column, (block, blocks) in rowset["blocks"].items():
        columns_of.setdefault((block, blocks), []).append(column)
    for (block, blocks), columns in columns_of.items():
        yield (
            Span(f"    block {block:,} of {blocks:,}: ", Role.FRAME),
            Span(", ".join(columns)),
        )
    for store, records in rowset["deltas"].items():
        yield (Span(f"    {store}: {noun_count(records, 'change')} of it", Role.HINT),)
