"""What functions take, in words: the engine's names of arguments, where the dialect allows them."""

from collections.abc import Mapping

from pykudu_sql.executor.session_state import SessionState
from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS, Function


def signatures(state: SessionState) -> Mapping[str, tuple[str, ...]]:
    """The arguments of each function in each of its forms, by its name: `part, timestamp`.

    A function whose arguments have no names has their number: `2 arguments`.
    """
    named: dict[str, dict[int, str]] = {}
    for name, arguments in state.engine.signatures():
        named.setdefault(name, {}).setdefault(len(arguments), ", ".join(arguments))
    return {
        name: forms
        for name, function in FUNCTIONS.items()
        if (forms := tuple(_forms(function, named.get(name, {}))))
    }


def _forms(function: Function, named: Mapping[int, str]) -> list[str]:
    arity = function.arity
    allowed = [
        text for count, text in sorted(named.items()) if arity is None or arity.allows(count)
    ]
    if not allowed and arity is not None:
        return [str(arity)]
    return allowed
