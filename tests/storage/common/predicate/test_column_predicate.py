"""Predicates against a plain reading of them: rows, zone maps, simplification, key bounds."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.keys.key_encoder import KeyEncoder
from pykudu_sql.storage.common.predicate.column_predicate import (
    ALWAYS,
    NEVER,
    And,
    Comparison,
    InList,
    IsNotNull,
    IsNull,
    Op,
    Or,
    Predicate,
    StartsWith,
    column_ids,
)
from pykudu_sql.storage.common.predicate.key_bounds import bounds
from pykudu_sql.storage.common.predicate.predicate_eval import evaluate
from pykudu_sql.storage.common.predicate.predicate_simplify import simplify
from pykudu_sql.storage.common.predicate.predicate_stats import (
    BlockStats,
    ColumnStats,
    may_match,
    may_match_blocks,
)
from pykudu_sql.storage.common.types.schema import ColumnSchema
from pykudu_sql.storage.common.types.types import Cell, DataType, Kind
from tests.storage.common.predicates import holds, predicates
from tests.storage.common.strategies import (
    ALL_TYPES,
    KEY_TYPES,
    cells,
    column_list,
    rows_of,
    to_columns,
)

INT8 = DataType(Kind.INT8)
DOUBLE = DataType(Kind.DOUBLE)
STRING = DataType(Kind.STRING)

_TYPES = st.lists(st.sampled_from(ALL_TYPES), min_size=1, max_size=3)
_KEYS = st.lists(st.sampled_from(KEY_TYPES), min_size=1, max_size=3)

Case = tuple[list[DataType], list[tuple[Cell, ...]], Predicate]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Types of one to three nullable columns, rows of them, a predicate over them."""
    types = draw(_TYPES)
    rows = draw(rows_of(tuple(types), nullable=True))
    return types, rows, draw(predicates(types))


@given(cases())
def test_evaluate_is_the_plain_reading(case: Case) -> None:
    types, rows, predicate = case
    expected = [holds(predicate, row) for row in rows]
    for as_dictionary in (False, True):
        columns = to_columns(types, rows, as_dictionary=as_dictionary)
        mask = evaluate(predicate, columns, dict(enumerate(types)))
        assert mask.dtype == np.bool_
        assert mask.tolist() == expected
        sliced = {i: values.slice(1) for i, values in columns.items()}
        assert evaluate(predicate, sliced, dict(enumerate(types))).tolist() == expected[1:]


@pytest.mark.parametrize("kind", [Kind.INT8, Kind.INT16, Kind.INT32, Kind.INT64])
@given(st.data())
def test_many_integers_are_looked_up_as_one_by_one(kind: Kind, data: st.DataObject) -> None:
    column_type = DataType(kind)
    assert column_type.integer_range is not None
    least, greatest = column_type.integer_range
    low = data.draw(st.sampled_from([least, -20, greatest - 40]))
    near = st.integers(low, low + 40) | st.sampled_from([least, greatest])
    rows = data.draw(st.lists(near, max_size=30)) * 10
    members = tuple(sorted(data.draw(st.sets(near, min_size=2, max_size=6))))
    columns = {0: pa.array(rows, column_type.arrow)}
    mask = evaluate(InList(0, members), columns, {0: column_type})
    assert mask.tolist() == [row in members for row in rows]


@given(cases())
def test_a_simplified_predicate_holds_for_the_same_rows(case: Case) -> None:
    types, rows, predicate = case
    columns = dict(enumerate(column_list(types)))
    simple = simplify(predicate, columns)
    assert [holds(simple, row) for row in rows] == [holds(predicate, row) for row in rows]
    assert simplify(simple, columns) == simple or "nan" in repr(simple)
    strict = {i: replace(column, nullable=False) for i, column in columns.items()}
    simple = simplify(predicate, strict)
    for row in rows:
        if None not in row:
            assert holds(simple, row) == holds(predicate, row)


def _stats(column: list[Cell], kind: DataType) -> ColumnStats:
    present = [cell for cell in column if cell is not None and cell == cell]
    has_nan = any(cell != cell for cell in column)
    low, high = (min(present), max(present)) if present else (None, None)
    return ColumnStats(low, high, column.count(None), len(column), has_nan)


def _blocks(stats: list[ColumnStats], kind: DataType) -> BlockStats:
    known = np.array([s.min is not None for s in stats])
    is_object = kind.is_variable or kind.width == 16
    dtype = object if is_object else kind.numpy
    filler: Cell = b"" if kind.kind is Kind.BINARY else "" if kind.is_variable else 0
    return BlockStats(
        np.array([filler if s.min is None else s.min for s in stats], dtype),
        np.array([filler if s.max is None else s.max for s in stats], dtype),
        known,
        np.array([s.null_count for s in stats]),
        np.array([s.row_count for s in stats]),
        np.array([s.has_nan for s in stats]),
    )


@given(cases())
def test_statistics_never_rule_out_a_matching_row(case: Case) -> None:
    types, rows, predicate = case
    if not rows:
        return
    halves = [rows[: len(rows) // 2 + 1], rows[len(rows) // 2 :]]
    stats = [
        [_stats([r[i] for r in half], kind) for i, kind in enumerate(types)] for half in halves
    ]
    scalar = [may_match(predicate, facts.__getitem__) for facts in stats]
    blocks = [_blocks([facts[i] for facts in stats], kind) for i, kind in enumerate(types)]
    assert may_match_blocks(predicate, blocks.__getitem__, 2).tolist() == scalar
    for half, kept in zip(halves, scalar, strict=True):
        assert kept or not any(holds(predicate, row) for row in half)
    assert may_match(predicate, lambda column_id: None) or predicate_is_never(predicate)


def predicate_is_never(predicate: Predicate) -> bool:
    """Whether a tree is false by its shape alone."""
    match predicate:
        case And(parts):
            return any(predicate_is_never(part) for part in parts)
        case Or(parts):
            return all(predicate_is_never(part) for part in parts)
    return False


@st.composite
def key_cases(draw: st.DrawFn) -> Case:
    """Types of a key, rows of it, a predicate over it."""
    types = draw(_KEYS)
    return types, draw(rows_of(tuple(types))), draw(predicates(types))


@given(key_cases())
def test_key_bounds_hold_every_matching_row(case: Case) -> None:
    types, rows, predicate = case
    columns = column_list(types)
    lower, upper = bounds(predicate, columns)
    encode = KeyEncoder(columns).encode_one
    for row in rows:
        key = encode(row)
        inside = (lower is None or lower <= key) and (upper is None or key < upper)
        assert inside or not holds(predicate, row)


@given(_KEYS, st.data())
def test_key_bounds_of_a_full_key_hold_only_it(types: list[DataType], data: st.DataObject) -> None:
    columns = column_list(types)
    row, other = (data.draw(st.tuples(*(cells(kind) for kind in types))) for _ in range(2))
    parts = tuple(Comparison(i, Op.EQ, cell) for i, cell in enumerate(row))
    lower, upper = bounds(And(parts), columns)
    key = KeyEncoder(columns).encode_one(other)
    assert upper is not None
    assert ((lower or b"") <= key < upper) == (row == other)


def test_bounds_of_nothing_are_open_and_of_a_contradiction_empty() -> None:
    columns = column_list([INT8, STRING])
    assert bounds(None, columns) == (None, None)
    assert bounds(ALWAYS, columns) == (None, None)
    assert bounds(Comparison(1, Op.EQ, "x"), columns) == (None, None)
    assert bounds(NEVER, columns) == (b"", b"")
    assert bounds(Comparison(0, Op.GT, 127), columns) == (b"", b"")
    assert bounds(IsNull(0), columns) == (b"", b"")


def test_a_range_after_an_equality_narrows_the_key_and_ends_it() -> None:
    columns = column_list([INT8, STRING])
    predicate = And((Comparison(0, Op.EQ, 1), StartsWith(1, "ab")))
    assert bounds(predicate, columns) == (b"\x81ab", b"\x81ac")
    predicate = And((Comparison(0, Op.GE, 1), Comparison(1, Op.EQ, "x")))
    assert bounds(predicate, columns) == (b"\x81", None)


@pytest.mark.parametrize(
    ("kind", "nullable", "predicate", "expected"),
    [
        (INT8, True, InList(0, (3, 1, 3)), InList(0, (1, 3))),
        (INT8, True, InList(0, ()), NEVER),
        (INT8, True, InList(0, (5,)), Comparison(0, Op.EQ, 5)),
        (INT8, True, InList(0, (5, 500)), Comparison(0, Op.EQ, 5)),
        (INT8, True, Comparison(0, Op.LE, 127), IsNotNull(0)),
        (INT8, False, Comparison(0, Op.LE, 127), ALWAYS),
        (INT8, True, Comparison(0, Op.GE, -128), IsNotNull(0)),
        (INT8, True, Comparison(0, Op.GE, 127), Comparison(0, Op.EQ, 127)),
        (INT8, True, Comparison(0, Op.LE, -128), Comparison(0, Op.EQ, -128)),
        (INT8, True, Comparison(0, Op.GT, 127), NEVER),
        (INT8, True, Comparison(0, Op.LT, -128), NEVER),
        (INT8, True, Comparison(0, Op.EQ, 128), NEVER),
        (INT8, True, Comparison(0, Op.LT, 1000), IsNotNull(0)),
        (
            INT8,
            True,
            And((Comparison(0, Op.GT, 4), Comparison(0, Op.LT, 6))),
            Comparison(0, Op.EQ, 5),
        ),
        (INT8, True, And((Comparison(0, Op.GT, 4), Comparison(0, Op.LT, 5))), NEVER),
        (INT8, True, And((IsNull(0), IsNotNull(0))), NEVER),
        (INT8, False, IsNull(0), NEVER),
        (INT8, False, IsNotNull(0), ALWAYS),
        (INT8, True, And((IsNotNull(0), Comparison(0, Op.EQ, 1))), Comparison(0, Op.EQ, 1)),
        (
            INT8,
            True,
            Or((Comparison(0, Op.EQ, 2), InList(0, (1,)), Comparison(0, Op.EQ, 2))),
            InList(0, (1, 2)),
        ),
        (DataType(Kind.BOOL), True, InList(0, (True, False)), IsNotNull(0)),
        (DOUBLE, True, InList(0, (1.0, 0.0)), InList(0, (0.0, 1.0))),
        (DataType(Kind.FLOAT), False, InList(0, (0.0, 1.0)), InList(0, (0.0, 1.0))),
        (STRING, True, Comparison(0, Op.GE, ""), IsNotNull(0)),
        (STRING, True, Comparison(0, Op.LT, ""), NEVER),
        (STRING, True, StartsWith(0, ""), IsNotNull(0)),
        (STRING, True, StartsWith(0, "a"), StartsWith(0, "a")),
        (DOUBLE, True, Comparison(0, Op.LE, math.nan), IsNotNull(0)),
        (DOUBLE, True, Comparison(0, Op.GT, math.nan), NEVER),
    ],
)
def test_simplification_follows_kudus_rules(
    kind: DataType, nullable: bool, predicate: Predicate, expected: Predicate
) -> None:
    column = ColumnSchema(0, "c", kind, nullable)
    assert simplify(predicate, {0: column}) == expected


def test_simplified_parts_stand_in_the_order_of_evaluation() -> None:
    columns = dict(enumerate(column_list([INT8, INT8, STRING, INT8])))
    either = Or((Comparison(0, Op.EQ, 1), Comparison(1, Op.EQ, 1)))
    parts = (
        either,
        IsNotNull(3),
        StartsWith(2, "a"),
        And((InList(1, (1, 2)), Comparison(0, Op.EQ, 7))),
    )
    assert simplify(And(parts), columns) == And(
        (Comparison(0, Op.EQ, 7), InList(1, (1, 2)), StartsWith(2, "a"), IsNotNull(3), either)
    )


def test_what_all_parts_of_an_or_ask_for_stands_before_it() -> None:
    columns = dict(enumerate(column_list([INT8, INT8, STRING])))
    first, second = Comparison(0, Op.EQ, 1), Comparison(1, Op.EQ, 1)
    late, prefix = Comparison(0, Op.GT, 9), StartsWith(2, "a")
    either = Or((And((prefix, first)), And((late, prefix))))
    assert simplify(either, columns) == And((prefix, Or((first, late))))
    assert simplify(Or((And((prefix, first)), prefix)), columns) == prefix
    pairs = Or(tuple(And((second, Comparison(0, Op.EQ, number))) for number in (3, 4)))
    assert simplify(pairs, columns) == And((second, InList(0, (3, 4))))
    assert simplify(Or(()), columns) == NEVER


def test_an_or_of_many_equalities_is_quick_to_simplify() -> None:
    many = Or(tuple(Comparison(0, Op.EQ, n) for n in range(5000)))
    column = ColumnSchema(0, "c", DataType(Kind.INT64))
    assert simplify(many, {0: column}) == InList(0, tuple(range(5000)))


def test_a_float_column_is_not_compared_with_a_rounded_constant() -> None:
    columns = {0: pa.array([0.1], pa.float32())}
    kinds = {0: DataType(Kind.FLOAT)}
    assert not evaluate(Comparison(0, Op.EQ, 0.1), columns, kinds).any()
    assert evaluate(Comparison(0, Op.GT, 0.1), columns, kinds).all()


def test_column_ids_are_those_the_tree_names() -> None:
    tree = And((Or((IsNull(3), StartsWith(1, "a"))), InList(7, (1,))))
    assert column_ids(tree) == {1, 3, 7}
    assert column_ids(ALWAYS) == frozenset()


@pytest.mark.parametrize(("words", "kind"), [(128, pa.int8()), (256, pa.uint8())])
@pytest.mark.parametrize("null_rows", [0, 3])
def test_words_as_many_as_codes_leave_room_for_an_answer_for_null(
    words: int, kind: pa.DataType, null_rows: int
) -> None:
    codes = pa.concat_arrays([pa.array(range(words), kind), pa.nulls(null_rows, kind)])
    texts = pa.DictionaryArray.from_arrays(codes, [f"word {n:03d}" for n in range(words)])
    types = {7: DataType(Kind.STRING)}
    last = Comparison(7, Op.EQ, f"word {words - 1:03d}")
    assert evaluate(IsNull(7), {7: texts}, types).sum() == null_rows
    assert evaluate(IsNotNull(7), {7: texts}, types).sum() == words
    assert evaluate(last, {7: texts}, types).tolist() == [
        *(number == words - 1 for number in range(words)),
        *[False] * null_rows,
    ]
