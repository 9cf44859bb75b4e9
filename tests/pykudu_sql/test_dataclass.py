"""The quick `dataclass` makes what the decorator of the standard library makes."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pykudu_sql import dataclass as quick

OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq, "kw_only": kw_only}
    for frozen in (False, True)
    for slots in (False, True)
    for eq in (False, True)
    for kw_only in (False, True)
]
FIELD_KINDS = (
    "plain",
    "default",
    "factory",
    "uncompared",
    "unshown",
    "unset",
    "computed",
    "hashed",
)


def declare(decorator: Callable[..., Any], options: dict[str, bool], kinds: list[str]) -> type:
    """A class with one field of each kind, made by `decorator`."""
    names = {f"f{place}": kind for place, kind in enumerate(kinds)}
    declared = {
        "default": lambda: 7,
        "factory": lambda: field(default_factory=list),
        "uncompared": lambda: field(default=1, compare=False),
        "unshown": lambda: field(default=2, repr=False),
        "unset": lambda: field(init=False, repr=False, compare=False),
        "computed": lambda: field(init=False, default_factory=dict),
        "hashed": lambda: field(default=3, hash=False),
    }
    values = {name: declared[kind]() for name, kind in names.items() if kind in declared}
    body = {
        "__annotations__": {**dict.fromkeys(names, int), "COUNT": ClassVar[int]},
        "COUNT": 5,
        "__module__": __name__,
        "__doc__": "A class.",
        **values,
    }
    made: type = decorator(**options)(type("Declared", (), body))
    return made


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the class of its error."""
    try:
        return call()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error)


def behaviour(cls: type, values: list[int]) -> dict[str, Any]:
    """What a user can see of a class and of two instances of it."""
    one, same = cls(*values), cls(*values)
    other = cls(*[value + 1 for value in values])
    name = next((f.name for f in dataclasses.fields(cls) if f.init), "f0")
    return {
        "parameters": [
            (parameter.name, parameter.kind, parameter.default is inspect.Parameter.empty)
            for parameter in inspect.signature(cls).parameters.values()
        ],
        "repr": outcome(lambda: repr(one)),
        "equal": one == same,
        "other": one == other,
        "foreign": one == tuple(values),
        "hash": outcome(lambda: hash(one) == hash(same)),
        "is hashable": cls.__hash__ is None,
        "match": getattr(cls, "__match_args__", None),
        "slots": getattr(cls, "__slots__", None),
        "dict": outcome(lambda: dataclasses.asdict(one)),
        "replaced": outcome(lambda: repr(dataclasses.replace(one, **{name: 9}))),
        # Without a field, the standard one asks `super` of the class that slots have replaced.
        "assigned": hasattr(one, name) and outcome(lambda: setattr(one, name, 4)),
        "deleted": hasattr(one, name) and outcome(lambda: delattr(same, name)),
        "missing": outcome(lambda: cls(unknown=1)),
    }


@given(
    options=st.sampled_from(OPTIONS),
    kinds=st.lists(st.sampled_from(FIELD_KINDS), max_size=6),
)
def test_it_behaves_as_the_standard_one(options: dict[str, bool], kinds: list[str]) -> None:
    kinds = sorted(kinds, key=lambda kind: kind != "plain")
    count = 0 if options["kw_only"] else kinds.count("plain")
    if options["kw_only"]:
        kinds = [kind for kind in kinds if kind != "plain"]
    values = list(range(count))
    standard = declare(dataclasses.dataclass, options, kinds)
    assert behaviour(declare(quick.dataclass, options, kinds), values) == behaviour(
        standard, values
    )


@quick.dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    x: int
    y: int = 0

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("x is negative")


@quick.dataclass(frozen=True, slots=True)
class NamedPoint(Point):
    """A place with a name."""

    name: str = ""

    def __repr__(self) -> str:
        return self.name


Item = TypeVar("Item")


@quick.dataclass(slots=True)
class Box(Generic[Item]):
    """A holder of one item."""

    item: Item


@pytest.mark.parametrize("value", [Point(1, 2), NamedPoint(1, 2, "home")])
def test_a_frozen_value_is_copied_and_pickled(value: Point) -> None:
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


def test_a_frozen_value_refuses_changes() -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'y'"):
        del Point(1).y  # type: ignore[misc]


def test_a_method_that_the_class_writes_stays() -> None:
    assert repr(NamedPoint(1, 2, "home")) == "home"
    assert repr(Point(1)) == "Point(x=1, y=0)"


def test_what_is_checked_after_init_is_checked() -> None:
    with pytest.raises(ValueError, match="x is negative"):
        Point(-1)
    with pytest.raises(ValueError, match="x is negative"):
        dataclasses.replace(Point(1), x=-1)


def test_a_generic_class_and_one_that_changes() -> None:
    box = Box[int](1)
    box.item = 2
    assert box == Box(2)
    assert Box.__hash__ is None


def test_a_match_takes_the_fields_in_order() -> None:
    match NamedPoint(1, 2, "home"):
        case NamedPoint(x, y, name):
            assert (x, y, name) == (1, 2, "home")
