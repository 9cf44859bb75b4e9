"""The engine's integers of more than 64 bits, in the form in which it hands them over.

They come as decimals or bytes, alone and within lists, structs and maps.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any

_Convert = Callable[[Any], Any]


def _unsigned(value: Decimal) -> int:
    """Of 128 bits, which the engine hands over as if they had a sign."""
    return int(value) % (1 << 128)


def _bignum(value: bytes) -> int:
    """DuckDB's way: a head of 3 bytes, the magnitude behind it; all bits turned where negative."""
    number = int.from_bytes(value[3:], "big")
    return number if value[0] & 0x80 else number + 1 - (1 << 8 * (len(value) - 3))


_WIDE: Mapping[str, Callable[[Any], int]] = {
    "HUGEINT": int,
    "UHUGEINT": _unsigned,
    "BIGNUM": _bignum,
}


@lru_cache(maxsize=256)
def wide_integers(sql_type: str) -> _Convert | None:
    """What makes Python's integers of the wide ones in a value; None if a type has none of them.

    `sql_type`: the value's, such as `STRUCT(a HUGEINT, b INT)[]`. A value of None stays.
    """
    convert = _WIDE.get(sql_type)
    if convert is None and any(name in sql_type for name in _WIDE):
        convert = _nested(sql_type)
    if convert is None:
        return None
    return lambda value: None if value is None else convert(value)


def _nested(sql_type: str) -> _Convert | None:
    if sql_type.endswith("]"):
        item = wide_integers(sql_type[: sql_type.rindex("[")])
        return None if item is None else partial(_each, item)
    kind, _, inner = sql_type.partition("(")
    parts = list(_parts(inner.removesuffix(")")))
    if kind == "STRUCT":
        fields = [wide_integers(_type_of_field(part)) for part in parts]
        return lambda struct: {
            name: value if field is None else field(value)
            for (name, value), field in zip(struct.items(), fields, strict=True)
        }
    if kind == "MAP" and len(parts) == 2:
        key, item = (wide_integers(part) or _same for part in parts)
        return lambda entries: [(key(name), item(value)) for name, value in entries]
    return None


def _each(convert: _Convert, values: list[Any]) -> list[Any]:
    return [convert(value) for value in values]


def _same(value: Any) -> Any:
    return value


def _parts(types: str) -> Iterator[str]:
    """What stands between the commas outside of parentheses and quotes."""
    start = depth = 0
    is_quoted = False
    for place, character in enumerate(types):
        if character == '"':
            is_quoted = not is_quoted
        elif not is_quoted:
            depth += (character == "(") - (character == ")")
            if character == "," and not depth:
                yield types[start:place].strip()
                start = place + 1
    yield types[start:].strip()


def _type_of_field(field: str) -> str:
    """The type of `name TYPE` or `"a name" TYPE`."""
    if not field.startswith('"'):
        return field.partition(" ")[2]
    end = 1
    while field[end : end + 1] != '"' or field[end : end + 2] == '""':
        end += 2 if field[end] == '"' else 1
    return field[end + 1 :].strip()
