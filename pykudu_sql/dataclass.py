"""`dataclass` of the standard library, with classes that are made in a quarter of its time.

`dataclasses.dataclass` compiles the source of six to nine methods a class, one at a time: about
half a millisecond. Hundreds of values are declared here, so this was a fifth of the processor time
of a short command. This decorator compiles `__init__` alone; the other methods are closures over
the fields. The result is a dataclass: `fields`, `replace`, `asdict`, `match` and pickles work.

Differences: `__init__` has no annotations, `__dataclass_params__` does not say what was asked for,
and a subclass of a frozen class is frozen too. `order`, `unsafe_hash` and `InitVar` are not
offered. Type checkers see the decorator of the standard library itself.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        frozen: bool = False,
        eq: bool = True,
        slots: bool = False,
        **options: bool,
    ) -> Any:
        """Make the decorated class a dataclass; the options are those of the standard library."""

        def decorate(declared: type) -> type:
            written = {name for name, value in vars(declared).items() if value is not None}
            declared.__doc__ = declared.__doc__ or declared.__name__
            make = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, **options)
            result: type = make(declared)
            for name, method in _methods(result, frozen=frozen, eq=eq, slots=slots).items():
                if name not in written:
                    setattr(result, name, method)
            return result

        return decorate if cls is None else decorate(cls)


def _methods(cls: type, *, frozen: bool, eq: bool, slots: bool) -> dict[str, Any]:
    """The methods that `cls` gets where it declares none of that name."""
    methods: dict[str, Any] = {"__init__": _initializer(cls), "__repr__": _repr}
    if eq:
        compared = [field for field in dataclasses.fields(cls) if field.compare]
        hashed = [
            field
            for field in dataclasses.fields(cls)
            if (field.compare if field.hash is None else field.hash)
        ]
        methods["__eq__"] = _equality(_values_of(compared))
        methods["__hash__"] = _hash_function(_values_of(hashed)) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
        if slots:
            methods |= {"__getstate__": _state, "__setstate__": _set_state}
    return methods


def _initializer(cls: type) -> Callable[..., None]:
    """Compile `__init__`: it stores past a frozen `__setattr__`, slots by their descriptors."""
    names: dict[str, Any] = {"MISSING": MISSING, "set_attribute": object.__setattr__}
    positional: list[str] = ["self"]
    keyword: list[str] = []
    lines: list[str] = []
    for field in dataclasses.fields(cls):
        parameter, value = _parameter_and_value(field, names)
        if value is None:
            continue
        if field.init:
            (keyword if field.kw_only else positional).append(parameter)
        slot = getattr(cls, field.name, None)
        if isinstance(slot, MemberDescriptorType):
            names[f"set_{field.name}"] = slot.__set__
            lines.append(f" set_{field.name}(self, {value})")
        else:
            lines.append(f" set_attribute(self, {field.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *keyword] if keyword else [])])
    exec("\n".join([f"def __init__({parameters}):", *(lines or [" pass"])]), names)
    function: Callable[..., None] = names["__init__"]
    function.__qualname__ = f"{cls.__qualname__}.__init__"
    return function


def _parameter_and_value(field: "Field[Any]", names: dict[str, Any]) -> tuple[str, str | None]:
    """Source of one parameter and of the value stored; no value where the class sets the field."""
    name = field.name
    if field.default is not MISSING:
        names[f"default_{name}"] = field.default
        default = f"default_{name}"
        return f"{name}={default}", name if field.init else default
    if field.default_factory is not MISSING:
        names[f"make_{name}"] = field.default_factory
        call = f"make_{name}()"
        return f"{name}=MISSING", f"{call} if {name} is MISSING else {name}" if field.init else call
    return name, name if field.init else None


def _values_of(fields: "list[Field[Any]]") -> Callable[[Any], tuple[Any, ...]]:
    """A function from an instance to the tuple of the values of `fields`."""
    if len(fields) > 1:
        return attrgetter(*(field.name for field in fields))
    if fields:
        get = attrgetter(fields[0].name)
        return lambda instance: (get(instance),)
    return lambda instance: ()


def _equality(values_of: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is self.__class__:
            return values_of(self) == values_of(other)
        return NotImplemented

    return __eq__


def _hash_function(values_of: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values_of(self))

    return __hash__


def _repr(self: Any) -> str:
    values = [
        f"{field.name}={getattr(self, field.name)!r}"
        for field in dataclasses.fields(self)
        if field.repr
    ]
    return f"{type(self).__qualname__}({', '.join(values)})"


def _refuse_assignment(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    """What a pickle holds: Python's own way would assign, which a frozen class refuses."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
