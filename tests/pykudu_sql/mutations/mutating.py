"""Random changes of a statement's tokens."""

import re
from collections.abc import Sequence
from random import Random

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+|\s+|[<>=!|:]+|.", re.DOTALL)
_LONGEST_COPY = 12


def tokens_of(sql: str) -> list[str]:
    """A statement's tokens, blanks among them; put together they are the statement."""
    return _TOKEN.findall(sql)


def mutated(random: Random, tokens: Sequence[str], pool: Sequence[str]) -> str:
    """A statement after one to three changes.

    Args:
        random: decides.
        tokens: of the statement.
        pool: tokens to put in.
    """
    changed = list(tokens)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        places = [i for i, token in enumerate(changed) if token.strip()]
        if places:
            _change(random, changed, random.choice(places), random.choice(places), pool)
    return "".join(changed)


def _change(
    random: Random, tokens: list[str], first: int, second: int, pool: Sequence[str]
) -> None:
    match random.randrange(6):
        case 0:
            tokens[first], tokens[second] = tokens[second], tokens[first]
        case 1:
            del tokens[first]
        case 2:
            tokens.insert(first, f"{tokens[first]} ")
        case 3:
            tokens.insert(first, f" {random.choice(pool)} ")
        case 4:
            tokens[first] = f" {random.choice(pool)} "
        case _:
            start, stop = sorted((first, second))
            copied = tokens[start : min(stop, start + _LONGEST_COPY) + 1]
            tokens[start:start] = [" ", *copied, " "]
