"""Paths inside a database, and numbers back out of names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.fs import layout

TABLET = "3f2c0c5e-5d0c-4b8a-9a55-6c3f6f9f2a11"


def test_everything_has_the_place_the_format_gives_it() -> None:
    assert layout.lock_path("r") == "r/LOCK"
    assert layout.current_path("r") == "r/CURRENT"
    assert layout.manifest_path("r", 3) == "r/manifest/3.log"
    assert layout.segment_path(layout.wal_directory("r"), 12) == "r/wal/12.log"
    assert layout.temporary_path("r", "x") == "r/tmp/x"
    kinds = [layout.tablet_file_path("r", TABLET, 7, kind) for kind in layout.TabletFileKind]
    assert kinds == [f"r/tablets/{TABLET}/7.{suffix}" for suffix in ("base", "redo", "undo")]


@given(st.integers(1, 10**18))
def test_numbers_come_back_out_of_names(number: int) -> None:
    assert layout.parse_log_name(f"{number}.log") == number


@pytest.mark.parametrize(
    "name",
    ["0.log", "01.log", "-1.log", "1.LOG", "1.log~", "1.log\n", "١.log", "log", ".log", "1.tmp"],  # noqa: RUF001
)
def test_other_names_are_not_ours(name: str) -> None:
    assert layout.parse_log_name(name) is None


@pytest.mark.parametrize("tablet_id", ["../../etc", "", TABLET.upper(), f"{{{TABLET}}}"])
def test_only_a_canonical_uuid_names_a_tablet(tablet_id: str) -> None:
    with pytest.raises(ValueError, match="UUID"):
        layout.tablet_directory("r", tablet_id)
