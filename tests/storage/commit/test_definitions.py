"""Changes of the catalog are made whole or not at all, each at a time of its own."""

from dataclasses import replace

import pytest

from pykudu_sql.storage.catalog.alter import RenameTable
from pykudu_sql.storage.catalog.table_info import TableInfo
from pykudu_sql.storage.commit.definitions import Definitions
from pykudu_sql.storage.common.types.hybrid_time import bound_at
from pykudu_sql.storage.errors import (
    DuplicateObjectError,
    OperationalError,
    TableChangedError,
    UndefinedTableError,
)
from tests.storage.small_store import SmallStore


def definitions_of(small: SmallStore) -> Definitions:
    return small.store.definitions


def successor(small: SmallStore) -> TableInfo:
    """A table of the same name with tablets of its own."""
    table = small.table
    tablets = tuple(replace(one, id=f"{i:032x}") for i, one in enumerate(table.tablets))
    return replace(table, id="f" * 32, tablets=tablets)


def test_a_name_is_given_once() -> None:
    small = SmallStore()
    with pytest.raises(DuplicateObjectError, match="'t'"):
        definitions_of(small).create_table(successor(small))
    with pytest.raises(DuplicateObjectError, match="'t'"):
        definitions_of(small).new_table(successor(small), False, None)


def test_a_new_table_takes_the_place_of_the_one_that_it_replaces() -> None:
    small = SmallStore()
    new = definitions_of(small).new_table(successor(small), True, None)
    assert definitions_of(small).replaced([new]) == [small.table.id]
    assert new.tablets.keys().isdisjoint(small.store.tablets)


def test_a_table_made_of_rows_that_changed_meanwhile_replaces_nothing() -> None:
    small = SmallStore()
    read_bound = bound_at(small.upsert({1: 1}))
    definitions = definitions_of(small)
    new = definitions.new_table(successor(small), True, read_bound)
    assert definitions.replaced([new]) == [small.table.id]
    small.upsert({1: 2})
    with pytest.raises(TableChangedError, match="'t' was changed by another session"):
        definitions.replaced([new])


def test_tablets_of_a_table_that_could_not_be_recorded_go_again() -> None:
    small = SmallStore()
    definitions = definitions_of(small)
    new = definitions.new_table(successor(small), True, None)
    before = set(small.store.tablets)
    with pytest.raises(OperationalError), definitions.adding(new):
        assert set(small.store.tablets) == before | new.tablets.keys()
        raise OperationalError("the edit was refused")
    assert set(small.store.tablets) == before


def test_a_change_is_not_seen_by_reads_of_the_time_before_it() -> None:
    small = SmallStore()
    before = small.store.pin()
    definitions_of(small).alter_table("t", [RenameTable("u")])
    assert set(small.store.catalog.tables) == {"u"}
    assert set(small.store.catalog_at(bound_at(before)).tables) == {"t"}
    with pytest.raises(UndefinedTableError):
        definitions_of(small).alter_table("t", [RenameTable("w")])
