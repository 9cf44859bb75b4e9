"""Some hundred hostile files; `make torture` judges twenty thousand."""

import subprocess
import sys
from dataclasses import replace

import pytest

from pykudu_sql.storage.errors import CorruptionError
from tests.storage.hostile import containers
from tests.storage.hostile.campaign import problems_of, use
from tests.storage.hostile.mutator import Mutation, Mutator
from tests.storage.hostile.sample import build, disk_of, open_store
from tests.storage.model import read, visible


def test_the_sample_has_every_kind_of_file_and_reads_right() -> None:
    sample = build()
    kinds = {path.rpartition(".")[2] for path in sample.files}
    assert kinds >= {"log", "base", "redo", "undo", "/db/CURRENT"}
    store = open_store(disk_of(sample.files))
    for _ in ("as built", "merged"):
        for bound, rows in sample.past:
            table = store.catalog_at(bound).table("t")
            assert read(store.begin(), table, bound) == visible(dict(rows), table)
        store.optimize("t", full=True)
    store.close()


def test_a_mutation_is_made_again_from_its_number() -> None:
    sample = build()
    mutator = Mutator(sample.files)
    again = Mutator(sample.files)
    assert [mutator.mutation(n) for n in range(40)] == [again.mutation(n) for n in range(40)]


def test_a_base_file_without_a_key_column_is_damage() -> None:
    sample = build()
    mutator = Mutator(sample.files)
    for path in (path for path in sample.files if path.endswith(".base")):
        identity, container = mutator.opened(path)
        others = {name: column for name, column in container.columns.items() if name != "0"}
        data = containers.put_together(replace(container, columns=others), identity)
        mutation = Mutation(path, "without its key", data)
        assert any(path in problem for problem in problems_of(sample, mutation))
        with pytest.raises(CorruptionError, match="key column 0 is missing"):
            use(sample, mutation)


def test_hostile_files_give_typed_errors_or_sound_rows_within_their_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.storage.hostile.campaign", "80"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    counts = [line.split() for line in done.stdout.splitlines()]
    outcomes = {line[1]: int(line[0]) for line in counts if len(line) == 2}
    assert outcomes["refused"] > 40
