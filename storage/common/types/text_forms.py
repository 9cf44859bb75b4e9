"""How numbers and times are written in the texts that columns take, as regular expressions.

One grammar for single values (`cells`) and arrays (`text_arrays`). Python and Arrow each read more,
and not the same: `1_000` and digits of other scripts the one, `0x10` the other. The patterns mean
the same to Python's `re` and to Arrow's RE2.
"""

from typing import Final

WHOLE: Final = r"[+-]?[0-9]+"
NUMBER: Final = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
# What FLOAT and DOUBLE have besides numbers; the exact types refuse them as out of range.
NO_NUMBER: Final = r"[+-]?(?i:inf|infinity|nan)"

DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)?"
_OFFSET = r"Z|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?"
# A blank before an offset is no part of either group: Python reads it after some fractions only.
MOMENT: Final = rf"({DAY}(?:[ T]{_CLOCK})?)"
ZONED_MOMENT: Final = rf"({DAY}[ T]{_CLOCK}) ?({_OFFSET})"
