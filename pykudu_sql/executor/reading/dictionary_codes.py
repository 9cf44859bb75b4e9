"""Codes of text columns that a query groups by, from the dictionaries of its scans.

A scan gives a column in pieces, each with the dictionary of its file. Where the pieces have the
same words, as those of a column with few values have, their codes are taken as they are; otherwise
they are mapped to codes of all words together. See `pushdown.dictionary_grouping`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.planner.plan.query_plans import CodedGroups
from pykudu_sql.storage.common.types import compute as pc

LEAST_ROWS = 50_000
MOST_WORDS = 4096
_ENCODED_ROWS = 64 * 1024


@dataclass(frozen=True, slots=True)
class CodedRelations:
    """What the form over codes is computed from.

    Attributes:
        relations: by name; those with coded columns have their codes too.
        words: for each parameter of words, what codes count from 0.
    """

    relations: Mapping[str, Relation]
    words: list[list[str]]


def coded_relations(coded: CodedGroups, relations: Mapping[str, Relation]) -> CodedRelations | None:
    """The relations with codes; None where that is not worth it, or not all are in memory.

    `coded`: the form over codes; `relations`: as they were scanned.
    """
    tables = {n: rows for n, rows in relations.items() if isinstance(rows, pa.Table)}
    if max((rows.num_rows for rows in tables.values()), default=0) < LEAST_ROWS:
        return None
    words = []
    for column in coded.columns:
        table = tables.get(column.scan)
        encoded = None if table is None else _codes(table.column(column.column))
        if table is None or encoded is None:
            return None
        codes, dictionary = encoded
        tables[column.scan] = table.append_column(column.code, codes)
        words.append(dictionary)
    return CodedRelations({**relations, **tables}, [words[i] for i in coded.shown])


def _codes(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, list[str]] | None:
    """Codes of a column and their words, at least one; None where they are not at hand or many."""
    pieces: list[pa.DictionaryArray] = []
    for piece in column.chunks:
        if not pa.types.is_dictionary(piece.type):
            if len(piece) > _ENCODED_ROWS:
                return None
            piece = piece.dictionary_encode()
        pieces.append(piece)
    dictionaries = [piece.dictionary for piece in pieces]
    alike = all(each.equals(dictionaries[0]) for each in dictionaries[1:])
    words = pc.unique(pa.chunked_array(dictionaries, pa.string())).drop_null()
    if len(words) > MOST_WORDS:
        return None
    # Narrow codes are taken as they lie in the files, without a copy.
    kind = pa.int8() if len(words) <= 1 << 7 else pa.int16()
    codes = [
        piece.indices.cast(kind)
        if alike and len(piece.dictionary) == len(words)
        else pc.take(pc.index_in(piece.dictionary, words).cast(kind), piece.indices)
        for piece in pieces
    ]
    return pa.chunked_array(codes, kind), words.to_pylist() or [""]
