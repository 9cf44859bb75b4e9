"""The block cache keeps what was used last, within its bytes."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql.storage.cfile.block_cache import BlockCache


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 120)), max_size=60))
def test_it_behaves_as_a_list_in_order_of_use(steps: list[tuple[bool, int, int]]) -> None:
    cache = BlockCache(100)
    model: list[tuple[int, int]] = []  # key and size, freshest last
    for is_put, key, size in steps:
        known = [entry for entry in model if entry[0] == key]
        if is_put:
            cache.put((key % 3, key), f"{key}:{size}", size)
            if size <= 100:
                model = [entry for entry in model if entry[0] != key] + [(key, size)]
                while sum(held for _, held in model) > 100:
                    model.pop(0)
        else:
            expected = f"{key}:{known[0][1]}" if known else None
            assert cache.get((key % 3, key)) == expected
            model = [entry for entry in model if entry[0] != key] + known
        assert cache.used == sum(held for _, held in model)
        assert cache.entries == len(model)


def test_hits_and_misses_are_counted_and_a_peek_that_finds_nothing_is_neither() -> None:
    cache = BlockCache(10)
    cache.put(("a",), 1, 1)
    assert (cache.get(("a",)), cache.get(("b",)), cache.peek(("b",)), cache.peek(("a",))) == (
        1,
        None,
        None,
        1,
    )
    assert (cache.hits, cache.misses) == (2, 1)


def test_a_value_larger_than_the_cache_is_not_kept_and_evicts_nothing() -> None:
    cache = BlockCache(10)
    cache.put(("small",), 1, 10)
    cache.put(("large",), 2, 11)
    assert (cache.get(("small",)), cache.get(("large",)), cache.used) == (1, None, 10)
    cache.clear()
    assert (cache.get(("small",)), cache.used) == (None, 0)


def test_the_entries_of_an_owner_are_forgotten_and_those_of_others_stay() -> None:
    cache = BlockCache(100)
    for number in range(3):
        cache.put(("gone", number), number, 10)
        cache.put(("stays", number), number, 10)
    cache.forget("gone")
    assert (cache.entries, cache.used) == (3, 30)
    assert [cache.get(("gone", n)) for n in range(3)] == [None] * 3
    assert [cache.get(("stays", n)) for n in range(3)] == [0, 1, 2]
    cache.forget("never there")


def test_entries_go_once_the_object_they_were_kept_for_is_gone() -> None:
    cache, holder = BlockCache(100), Holder()
    cache.put(("column", 1), "derived", 60)
    cache.forget_after(holder, "column")
    cache.put(("other", 1), "more", 30)
    assert cache.get(("column", 1)) == "derived"
    del holder
    cache.put(("other", 2), "even more", 30)
    assert (cache.get(("column", 1)), cache.get(("other", 1)), cache.used) == (None, "more", 60)


class Holder:
    """Something that entries are kept for."""


def test_threads_that_put_and_get_at_once_never_see_a_wrong_value() -> None:
    cache = BlockCache(50)
    wrong: list[object] = []

    def work(seed: int) -> None:
        for step in range(1500):
            key = (seed * 31 + step * 7) % 40
            found = cache.get((key % 5, key))
            if found is None:
                cache.put((key % 5, key), key * 2, 3)
            elif found != key * 2:
                wrong.append((key, found))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert cache.used == 3 * cache.entries <= 50


def test_a_key_is_asked_again_where_it_was_not_long_ago() -> None:
    cache = BlockCache(100)
    keys = [("file", number) for number in range(20)]
    assert [cache.is_asked_again(key) for key in (*keys, *keys)] == [False] * 20 + [True] * 20
    for number in range(1_000_000):
        cache.is_asked_again(("other", number))
    assert not any(cache.is_asked_again(key) for key in keys)
