"""What is said of a call that makes more than it may, before or while the engine computes it."""

MAX_VALUE_BYTES = 64 * 1024 * 1024
_LIMIT = f"{MAX_VALUE_BYTES >> 20} MiB"
_MAX_STEPS = f"{MAX_VALUE_BYTES:,} steps"
# By what a call is shown as; what bounds these is no size of a value.
_STEPPING = frozenset(
    {"levenshtein", "damerau_levenshtein", "jaro_similarity", "jaro_winkler_similarity",
     "regexp_extract", "regexp_full_match", "regexp_i_like", "regexp_like", "regexp_matches",
     "regexp_count", "strftime"}
)  # fmt: skip
_PARTING = frozenset({"split_part", "initcap", "cast"})


def is_named_by_kind(name: str) -> bool:
    """Whether the bound of a function is one of steps or parts, which its own name says."""
    return name in _STEPPING or name in _PARTING


def excess_of(name: str) -> str:
    """What a call would do beyond its bound.

    Args:
        name: of the call, as statements write it.
    """
    if name in _STEPPING:
        return f"'{name}' would take more than {_MAX_STEPS}"
    if name in _PARTING:
        return f"'{name}' would make parts of more than {_LIMIT} together"
    return f"'{name}' would make a value of more than {_LIMIT}"


def remedy_of(name: str) -> str:
    """What to do about it."""
    if name in _STEPPING:
        return f"each row of a call takes at most {_MAX_STEPS}: give it shorter texts"
    if name in _PARTING:
        return "the engine holds all parts of a text at once: give it a shorter one"
    return f"a value that is computed has at most {_LIMIT}"
