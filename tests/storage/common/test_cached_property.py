"""A cached property is computed once, and by each thread for itself."""

import threading
from dataclasses import dataclass

from pykudu_sql.storage.common.cached_property import cached_property


@dataclass(frozen=True)
class Square:
    side: int
    calls: list[int]

    @cached_property
    def area(self) -> int:
        """The side by itself."""
        self.calls.append(self.side)
        return self.side * self.side


def test_a_property_is_computed_at_its_first_use_alone() -> None:
    square = Square(3, [])
    assert (square.area, square.area, square.calls) == (9, 9, [3])


def test_the_class_gives_the_descriptor_with_its_documentation() -> None:
    assert isinstance(Square.area, cached_property)
    assert Square.area.__doc__ == "The side by itself."


def test_threads_that_compute_at_once_get_one_object_and_do_not_wait_for_one_another() -> None:
    both = threading.Barrier(2, timeout=10)

    class Meeting:
        @cached_property
        def place(self) -> object:
            both.wait()  # passes only if both threads compute at the same time
            return object()

    meeting = Meeting()
    places: list[object] = []
    threads = [threading.Thread(target=lambda: places.append(meeting.place)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(places) == 2
    assert places[0] is places[1] is meeting.place
