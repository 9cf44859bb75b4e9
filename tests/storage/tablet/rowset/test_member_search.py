"""Cells that are members of a list, looked for by their order."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.predicate.column_predicate import (
    Among,
    Comparison,
    InList,
    Op,
    Predicate,
)
from pykudu_sql.storage.tablet.rowset.member_search import member_places, searched_members
from tests.storage.common.predicates import set_of

BYTES = st.integers(-128, 127)


@given(
    cells=st.lists(BYTES, min_size=1).map(sorted),
    members=st.sets(BYTES | st.integers(-(1 << 63), (1 << 63) - 1)).map(sorted),
    kind=st.sampled_from([np.int8, np.int16, np.int32, np.int64]),
)
def test_places_are_those_of_a_look_at_every_cell(
    cells: list[int], members: list[int], kind: type[np.signedinteger]
) -> None:
    stored: npt.NDArray[np.signedinteger] = np.array(cells, kind)
    wanted = set(members)
    expected = [place for place, cell in enumerate(cells) if cell in wanted]
    assert member_places(stored, np.array(members, np.int64)).tolist() == expected


@pytest.mark.parametrize(
    ("predicate", "members"),
    [
        (InList(1, (7, 3, 3)), [3, 7]),
        (InList(1, (7, 1 << 70, None)), [7]),
        (Among(1, set_of(9, 5)), [5, 9]),
        (InList(1, tuple(range(40))), None),
        (Among(1, set_of(*range(40))), None),
        (Comparison(1, Op.EQ, 3), None),
    ],
)
def test_few_members_are_looked_for(predicate: Predicate, members: list[int] | None) -> None:
    searched = searched_members(predicate, 1000)
    assert (None if searched is None else searched.tolist()) == members


@pytest.mark.parametrize("low", [-(1 << 63), (1 << 63) - 10, 0])
def test_a_set_has_its_members_in_their_order(low: int) -> None:
    assert set_of(low + 9, low, low + 4).ascending().tolist() == [low, low + 4, low + 9]
