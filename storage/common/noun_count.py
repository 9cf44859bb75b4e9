"""A number with the noun that it counts, for messages: `1 value`, `2,000 values`."""


def noun_count(count: int, noun: str) -> str:
    """A number and a noun, which gets an `s` unless it is one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
