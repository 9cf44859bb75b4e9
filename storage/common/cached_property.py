"""A property that is computed once, without a lock.

`functools.cached_property` of Python 3.11 holds one lock for all objects of a class while it
computes. A process that forks while another thread computes leaves that lock held in the child,
where its owner does not run: the first use there waits for ever. Threads that compute the property
of different objects also wait for one another. Python 3.12 removed the lock; this is that version,
for 3.11 too.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

_T = TypeVar("_T")


class cached_property(Generic[_T]):
    """A descriptor that keeps in `__dict__` what a method returns.

    Two threads that ask for the first time at once may both compute it; both get the same object.
    The method must therefore have no effect but its result. Works on frozen dataclasses, not on
    classes whose `__slots__` leave out `__dict__`.
    """

    def __init__(self, method: Callable[[Any], _T]) -> None:
        """Use it as a decorator of a method without arguments."""
        self._method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "cached_property[_T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...

    def __get__(self, instance: object | None, owner: type) -> "cached_property[_T] | _T":
        if instance is None:
            return self
        # Python asks `__dict__` first, so this runs only while there is no value.
        value: _T = instance.__dict__.setdefault(self._name, self._method(instance))
        return value
