"""What the operating system tells about memory."""

import os
from pathlib import Path

import pytest

from pykudu_sql.storage.fs import machine_memory
from pykudu_sql.storage.fs.machine_memory import process_memory, usable_memory


def test_a_control_group_bounds_what_the_machine_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = tmp_path / "memory.max"
    monkeypatch.setattr(machine_memory, "_CGROUP_LIMIT", str(group))
    all_of_it = int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 0.8)
    assert usable_memory() == all_of_it
    group.write_text("max\n")
    assert usable_memory() == all_of_it
    group.write_text("1000000\n")
    assert usable_memory() == 800_000


def test_the_peak_of_the_process_stays_when_memory_is_given_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = process_memory()
    block = bytearray(64 << 20)
    block[::4096] = b"x" * len(block[::4096])
    held = process_memory()
    del block
    assert before.now is not None
    assert held.now is not None
    assert held.now > before.now + (48 << 20)
    assert process_memory().peak > before.now + (48 << 20)
    monkeypatch.setattr(machine_memory, "_STATUS", str(tmp_path / "nothing"))
    assert process_memory().now is None
    assert process_memory().peak > before.now + (48 << 20)
