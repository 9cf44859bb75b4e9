"""Codes of text columns that a query groups by, from the dictionaries of its scans.

A scan gives a column in pieces, each with the dictionary of its file. Where the pieces have the
same words, as those of a column with few values have, their codes are taken as they are; otherwise
they are mapped to codes of all words together. Of a stream the words are gathered before it is
read. See `pushdown.words.dictionary_grouping`.
"""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from pykudu_sql.dataclass import dataclass
from pykudu_sql.engine.query_engine import Relation
from pykudu_sql.executor.reading.groups.coded_stream import (
    CodedStream,
    Coding,
    Values,
    are_few_together,
    combinations,
)
from pykudu_sql.executor.reading.scans import StreamedScan
from pykudu_sql.planner.plan.query_plans import CodedColumn, CodedGroups
from pykudu_sql.storage.common.types import compute as pc
from pykudu_sql.storage.common.types.arrays import plain

LEAST_ROWS = 50_000
MOST_WORDS = 4096
_ENCODED_ROWS = 64 * 1024
_SAMPLE_ROWS = MOST_WORDS + 512


@dataclass(frozen=True, slots=True)
class CodedRelations:
    """What the form over codes is computed from.

    Attributes:
        sql: in which they are read.
        relations: by name; those with coded columns have their codes too.
        words: for each parameter of words, what codes count from 0.
    """

    sql: str
    relations: Mapping[str, Relation]
    words: Sequence[Sequence[str | None]]


# Computes a query over a relation of the words that it is given, NULL the last; the one column, or
# None where the engine refuses a word.
FunctionOfWords = Callable[[str, pa.Array], pa.Array | None]


def coded_relations(
    coded: CodedGroups, relations: Mapping[str, Relation], compute: FunctionOfWords
) -> CodedRelations | None:
    """The relations with codes; None where that is not worth it, or words are not at hand.

    Args:
        coded: the form over codes.
        relations: as they were scanned.
        compute: makes the values of functions.

    Raises CorruptionError: a dictionary is not what was written.
    """
    if max(map(row_count, relations.values()), default=0) < LEAST_ROWS:
        return None
    values = []
    for column in coded.columns:
        of_column = _values(column, relations[column.scan], compute)
        if of_column is None:
            return None
        values.append(of_column)
    print_joint, first = coded.print_joint, coded.columns[0]
    codings: dict[str, list[Coding]] = {}
    decoded: Sequence[Sequence[str | None]]
    if print_joint is not None and are_few_together(values):
        positions = tuple(_index(relations, column) for column in coded.columns)
        codings[first.scan] = [Coding(positions, first.code, tuple(values))]
        sql, decoded = print_joint(), combinations(values)
    else:
        for column, of_column in zip(coded.columns, values, strict=True):
            coding = Coding((_index(relations, column),), column.code, (of_column,))
            codings.setdefault(column.scan, []).append(coding)
        sql, decoded = coded.print(), [each.distinct.to_pylist() or [""] for each in values]
    coded_ones = {name: _with_codes(relations[name], each) for name, each in codings.items()}
    return CodedRelations(sql, {**relations, **coded_ones}, [decoded[i] for i in coded.decoded])


def _values(column: CodedColumn, relation: Relation, compute: FunctionOfWords) -> Values | None:
    """What the codes of a column count; None where that is not at hand."""
    words = _words(relation, column.column)
    if words is None or not column.values:
        return None if words is None else Values(words, words)
    values = compute(column.values, pa.concat_arrays([words, pa.nulls(1, words.type)]))
    if values is None or not pa.types.is_string(values.type):
        return None
    return Values.of_function(words, values)


def _index(relations: Mapping[str, Relation], column: CodedColumn) -> int:
    return int(relations[column.scan].schema.get_field_index(column.column))


def row_count(relation: Relation) -> int:
    """How many rows a relation has, or is about to give."""
    return int(relation.num_rows if isinstance(relation, pa.Table) else relation.row_count)


def _words(relation: Relation, name: str) -> pa.Array | None:
    """The texts of a column; None where they are not at hand, or many."""
    if isinstance(relation, StreamedScan):
        return relation.words(relation.schema.get_field_index(name), MOST_WORDS)
    if not isinstance(relation, pa.Table):
        return None
    dictionaries = []
    for piece in relation.column(name).chunks:
        is_encoded = pa.types.is_dictionary(piece.type)
        if not is_encoded and (len(piece) > _ENCODED_ROWS or _has_many_words(piece)):
            return None
        dictionaries.append(piece.dictionary if is_encoded else plain(pc.unique(piece)))
    words = pc.unique(pa.chunked_array(dictionaries, pa.string())).drop_null()
    return None if len(words) > MOST_WORDS else words


def _has_many_words(texts: pa.Array) -> bool:
    """Whether the first texts alone are too many words; looking at all takes as long as a join."""
    return len(texts) > _SAMPLE_ROWS and len(pc.unique(texts.slice(0, _SAMPLE_ROWS))) > MOST_WORDS


def _with_codes(relation: Relation, codings: Sequence[Coding]) -> Relation:
    if isinstance(relation, StreamedScan):
        return CodedStream(relation, codings)
    assert isinstance(relation, pa.Table)
    for coding in codings:
        pieces = relation.select(list(coding.columns)).to_batches()
        codes = [coding.codes(each.columns) for each in pieces]
        relation = relation.append_column(coding.field, pa.chunked_array(codes, coding.field.type))
    return relation
