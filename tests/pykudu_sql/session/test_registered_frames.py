"""Frames of a session: which names they may have, and that a plan keeps those it was made for."""

from contextlib import nullcontext

import pytest

from pykudu_sql.session.registered_frames import RegisteredFrames, frame_name
from pykudu_sql.storage.errors import (
    DuplicateObjectError,
    InterfaceError,
    ProgrammingError,
    UndefinedTableError,
)
from tests.storage.small_store import SmallStore


def test_a_frame_comes_in_place_of_one_of_its_name_and_an_earlier_mapping_stays() -> None:
    frames, catalog = RegisteredFrames(), SmallStore().store.catalog
    frames.register("f", {"a": [1]}, catalog, nullcontext)
    before = frames.by_name
    frames.register("f", {"b": [1]}, catalog, nullcontext)
    assert [list(each["f"].schema.by_name) for each in (before, frames.by_name)] == [["a"], ["b"]]
    frames.unregister("f")
    assert frames.by_name == {}
    assert list(before) == ["f"]


def test_a_frame_takes_no_name_of_a_table() -> None:
    with pytest.raises(DuplicateObjectError, match="there is a table or view 't' already"):
        RegisteredFrames().register("t", {"a": [1]}, SmallStore().store.catalog, nullcontext)


def test_a_frame_that_is_not_there_is_missed_by_name() -> None:
    frames = RegisteredFrames()
    frames.register("f", {"a": [1]}, SmallStore().store.catalog, nullcontext)
    with pytest.raises(UndefinedTableError, match="no frame 'g' is registered") as caught:
        frames.unregister("g")
    assert caught.value.hint == "registered are: f"


@pytest.mark.parametrize("name", ["", "a.b", "a\0", "é" * 129])
def test_what_no_name_is_is_none_of_a_frame(name: str) -> None:
    with pytest.raises(ProgrammingError, match="cannot be the name of a frame"):
        frame_name(name)


def test_a_frame_has_its_name_in_lower_case_and_as_text() -> None:
    assert frame_name("Sales") == "sales"
    with pytest.raises(InterfaceError, match="the name of a frame is text, not int"):
        frame_name(1)
