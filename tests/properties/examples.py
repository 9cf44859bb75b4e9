"""How many examples properties are tried with: few in the suite, 25 times as many in `thorough`."""

from hypothesis import settings

IN_THE_SUITE = 40
THOROUGH = 1000


def examples(count: int) -> int:
    """The number for a property that takes `count` of them in the suite."""
    return count * settings.default.max_examples // IN_THE_SUITE
