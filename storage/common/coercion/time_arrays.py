"""Arrow's times of any unit and zone as those that a TIMESTAMP stores."""

import pyarrow as pa

from pykudu_sql.storage.common.types import compute as pc

MICROS = pa.timestamp("us")


def to_micros(times: pa.Array) -> pa.Array:
    """Microseconds in UTC without a zone; nanoseconds are rounded, halves up.

    `times`: timestamps. Raises ArrowInvalid: one is too far from 1970 for 64 bits of microseconds.
    """
    zone = times.type.tz
    if times.type.unit == "ns":
        times = pc.round_temporal(times, 1, unit="microsecond")
        times = times.cast(pa.timestamp("us", zone), safe=False)
    micros = times.cast(pa.timestamp("us", zone))
    return micros.view(pa.int64()).view(MICROS)
