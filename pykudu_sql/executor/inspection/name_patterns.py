"""Names that match a pattern, as SHOW and DESCRIBE take one."""

import re
from collections.abc import Callable


def like(pattern: str | None) -> Callable[[str | None], bool]:
    """Whether a name matches a pattern of LIKE, whatever its case; None for all names.

    As in Impala `*` is `%`, and `|` stands between patterns of which one is to match.
    """
    if pattern is None:
        return lambda name: True
    parts = {"%": ".*", "*": ".*", "_": ".", "|": "|"}
    regex = "".join(parts.get(c, re.escape(c)) for c in pattern)
    compiled = re.compile(regex, re.IGNORECASE | re.DOTALL)
    return lambda name: compiled.fullmatch(name or "") is not None
