"""What a hostile writer puts in the place of a number, a text or some bytes."""

import random
import struct
from typing import Any

INTEGERS = (
    0, 1, 2, 3, 7, 8, 9, 63, 64, 127, 128, 255, 256, 4095, 32767, 32768, 65535, 65536, 1 << 20,
    (1 << 24) - 1, 1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, 1 << 53,
    (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, -1, -2, -128, -(1 << 31), -(1 << 63),
    -(1 << 64),
)  # fmt: skip
_OTHERS: tuple[Any, ...] = (
    None, True, False, 1.5, -0.0, 1e300, "", "x", "../../etc/passwd", "\0", "é" * 300, "NaN", [],
    {}, [[]], [None], {"": None}, ["id"] * 40, "DECIMAL(99,99)", "BIGINT", "STRING", "DATE",
    "PLAIN_ENCODING", "RLE", "ZSTD", {"float": "0x1p+9999"}, {"hex": "zz"}, {"hex": "00"},
)  # fmt: skip
_FIELDS = tuple(struct.Struct(shape) for shape in ("<B", "<H", "<I", "<Q"))


def integer(rng: random.Random, near: int) -> int:
    """Some integer: a border of some type, or not far from the one it replaces."""
    if rng.random() < 0.4:
        return near + rng.choice((-9, -8, -2, -1, 1, 2, 7, 8, 64))
    return rng.choice(INTEGERS)


def damage_bytes(rng: random.Random, data: bytes, head: int = 64) -> bytes:
    """Bytes with one to three things wrong, more often in the first `head` of them."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _damage_once(rng, out, head)
    return bytes(out)


def _damage_once(rng: random.Random, out: bytearray, head: int) -> None:
    place = rng.randrange(min(len(out), head) if rng.random() < 0.7 else len(out)) if out else 0
    match rng.randrange(8):
        case 0 | 1 | 2 | 3:
            field = rng.choice(_FIELDS)
            if place + field.size <= len(out):
                (old,) = field.unpack_from(out, place)
                field.pack_into(out, place, integer(rng, old) % (1 << 8 * field.size))
        case 4:
            if out:
                out[place] ^= 1 << rng.randrange(8)
        case 5:
            del out[place:]
        case 6:
            out[place:place] = rng.randbytes(rng.randrange(1, 20))
        case _:
            stop = place + rng.randrange(1, 20)
            out[place:stop] = bytes(len(out[place:stop]))


def damage_json(rng: random.Random, value: Any) -> Any:
    """A copy of a JSON value with one of its parts replaced, removed, repeated or moved."""
    inner = _inner(rng, value)
    if inner is None:
        return _replacement(rng, value)
    if isinstance(value, dict):
        changed = dict(value)
        if rng.random() < 0.12 and inner in changed:
            del changed[inner]
        else:
            changed[inner] = damage_json(rng, value[inner])
        return changed
    items = list(value)
    roll = rng.random()
    if roll < 0.08:
        del items[inner]
    elif roll < 0.16:
        items.insert(inner, items[rng.randrange(len(items))])
    elif roll < 0.2:
        rng.shuffle(items)
    else:
        items[inner] = damage_json(rng, items[inner])
    return items


def _inner(rng: random.Random, value: Any) -> Any:
    """The key or index of a part to go into; None to stay here."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.05:
        return None
    return rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))


def _replacement(rng: random.Random, value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.8:
        return integer(rng, value)
    if isinstance(value, str) and value and rng.random() < 0.4:
        place = rng.randrange(len(value))
        return value[:place] + chr(rng.choice((0, 48, 65, 0x7F, 0xE9))) + value[place + 1 :]
    return rng.choice(_OTHERS)
