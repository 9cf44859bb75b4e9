"""One limit: its shares, what statements hold of it, and peaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.common.memory_budget import (
    MOST_CACHED,
    PROCESS_BYTES,
    Holder,
    MemoryBudget,
    MemoryShares,
    shares_of,
)
from pykudu_sql.storage.errors import OperationalError

MIB = 1 << 20
SHARES = MemoryShares(limit=1000, block_cache=100, memstores=100, engine=300, statements=300)


class Held:
    """Something that holds memory."""


@given(st.integers(2 * PROCESS_BYTES, 1 << 45))
def test_shares_and_the_process_itself_come_to_the_limit(limit: int) -> None:
    shares = shares_of(limit)
    parts = (shares.block_cache, shares.memstores, shares.engine, shares.statements)
    assert min(parts) >= 16 * MIB
    assert limit - 3 <= sum(parts) + PROCESS_BYTES <= limit + 64 * MIB
    assert shares.block_cache <= MOST_CACHED


def test_the_shares_of_half_a_gigabyte() -> None:
    shares = shares_of(512 * MIB)
    parts = (shares.block_cache, shares.memstores, shares.engine, shares.statements)
    assert [part // MIB for part in parts] == [44, 44, 132, 132]


@given(st.integers(0, 1 << 40))
def test_a_value_has_a_share_of_what_the_process_leaves(limit: int) -> None:
    value = shares_of(limit).value
    assert MIB <= value <= 64 * MIB and value % MIB == 0
    assert value <= max(MIB, max(limit - PROCESS_BYTES, limit // 2) // 8)
    assert value == 64 * MIB or limit < 1 << 30


@given(st.integers(0, 1 << 30), *(st.none() | st.integers(0, 1 << 31) for _ in range(3)))
def test_what_is_given_stays_and_statements_have_something(
    limit: int, cache: int | None, memstores: int | None, engine: int | None
) -> None:
    shares = shares_of(limit, cache, memstores, engine)
    given_values = ((cache, shares.block_cache), (memstores, shares.memstores))
    assert all(value in (None, share) for value, share in (*given_values, (engine, shares.engine)))
    assert shares.statements >= limit // 8 - 1


def test_what_statements_hold_is_free_again_when_it_is_gone() -> None:
    budget = MemoryBudget(SHARES)
    one, other = Held(), Held()
    budget.hold(one, 100)
    budget.hold(other, 150)
    assert budget.free == 50
    budget.check(50, "rows")
    with pytest.raises(OperationalError, match="rows take more than the 50 bytes") as caught:
        budget.check(51, "rows")
    assert caught.value.sqlstate == "53200"
    del one
    assert budget.free == 150
    budget.hold(other, 500)
    assert budget.free == 0
    use = budget.uses()[Holder.STATEMENTS]
    assert (use.limit, use.used, use.peak) == (300, 650, 650)
    del other
    assert budget.free == 300
    assert budget.uses()[Holder.STATEMENTS].peak == 650


def test_a_peak_is_the_highest_that_was_looked_at() -> None:
    budget, sizes = MemoryBudget(SHARES), [5, 70, 20]
    budget.measure_with(Holder.ENGINE, lambda: sizes.pop(0))
    assert [budget.sample(Holder.ENGINE) for _ in range(2)] == [5, 70]
    use = budget.uses()[Holder.ENGINE]
    assert (use.limit, use.used, use.peak) == (300, 20, 70)
