"""The types of numbers computed from parameters, as the engine names them.

Where the types of the values decide them, the engine is asked once for all values of these types:
of as many bits for an integer, and as many digits for a decimal. A bounded number of answers is
kept, the last ones used.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from pykudu_sql.planner.operands.value import ComputedNumbers

if TYPE_CHECKING:
    from pykudu_sql.engine.query_engine import QueryEngine, Relation

MAX_ANSWERS = 512
_INTEGER_BITS = (31, 63, 64)  # of the engine's types, which takes the least that has a value


class ComputedTypes:
    """The types of what statements of one session compute."""

    def __init__(self, engine: "Callable[[], QueryEngine[Relation]]") -> None:
        """No type is computed yet.

        `engine`: gives that of the session.
        """
        self._engine = engine
        self._answers: OrderedDict[tuple[object, ...], tuple[str, ...]] = OrderedDict()

    def names(self, computed: ComputedNumbers, values: Sequence[Any]) -> tuple[str, ...]:
        """The engine's names of the types.

        `values`: of `computed.keys`. Raises DataError, ProgrammingError: it finds none for them.
        """
        types = [_type_of(value) for value in values]
        if not computed.follows or None in types:
            return self._ask(computed, values)
        key = (computed.sql, *types)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._ask(computed, values)
            if len(self._answers) > MAX_ANSWERS:
                self._answers.popitem(last=False)
        else:
            self._answers.move_to_end(key)
        return answer

    def _ask(self, computed: ComputedNumbers, values: Sequence[Any]) -> tuple[str, ...]:
        return tuple(self._engine().execute(computed.sql, {}, values).table[0][0].as_py())


def _type_of(value: object) -> object:
    """A key that is equal for values that the engine gives one type; None if it is not known."""
    if isinstance(value, Decimal):
        written = value.as_tuple()
        return Decimal, len(written.digits), written.exponent
    if isinstance(value, int) and not isinstance(value, bool):
        bits = (value if value >= 0 else ~value).bit_length()
        return int, value < 0, sum(bits > each for each in _INTEGER_BITS)
    return type(value) if value is None or isinstance(value, bool | float | str) else None
