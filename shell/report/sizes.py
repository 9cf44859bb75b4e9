"""Sizes as people read them."""

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def format_size(size: int) -> str:
    """`980 bytes`, `12.5 KiB`, `3.0 GiB`."""
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{size:,} {_UNITS[0]}" if not unit else f"{value:,.1f} {_UNITS[unit]}"
