"""The number of arguments of each call, counted on the tokens and checked with the function table.

sqlglot's parser makes nodes of the functions it knows and keeps the arguments that a node has room
for; surplus ones are dropped silently. So arguments are counted on the tokens, before the parser
sees them, and each call that becomes a node is checked against its entry.
"""

import difflib
from collections.abc import Mapping, Sequence

from sqlglot import Token, TokenType, exp

from pykudu_sql.dataclass import dataclass
from pykudu_sql.planner.token_rewrites.renamed_calls import INNER_NAMES, is_called
from pykudu_sql.planner.token_rewrites.tokens import CLOSING, OPENING
from pykudu_sql.planner.tree_nodes import nodes_of
from pykudu_sql.planner.vocabulary.foreign_functions import FOREIGN_FUNCTIONS
from pykudu_sql.planner.vocabulary.function_table import FUNCTIONS, NODE_NAMES, SOURCE_NAME
from pykudu_sql.storage.errors import ProgrammingError, SourceSpan

_OPENS = OPENING - {TokenType.CASE}
_CLOSES = CLOSING - {TokenType.END}
_BEGINS_QUERY = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.VALUES, TokenType.FROM})
# Behind these the commas of a call part no arguments: `string_agg(a, ',' ORDER BY b, c)`.
_ENDS_ARGUMENTS = frozenset({TokenType.ORDER_BY, TokenType.SEPARATOR})
# Words that part the arguments of some functions as commas do.
_PARTING: Mapping[str, frozenset[str]] = {
    "extract": frozenset({"FROM"}),
    "overlay": frozenset({"PLACING", "FROM", "FOR"}),
    "position": frozenset({"IN"}),
    "substring": frozenset({"FROM", "FOR"}),
    "trim": frozenset({"FROM"}),
}
# Those for which the parser has a way of its own, which leaves no place in the node.
_APART_NAMES = """
    any_value approx_quantile arg_max arg_min argmax argmin ceil char chr exists extract floor
    group_concat initcap json_object listagg map max max_by min min_by mod overlay position
    quantile quantile_cont quantile_disc string_agg stringagg substring trim unnest xor
"""
_SEED = "a seed is not supported; hash(k) % 1000 / 1000 gives a number that repeats"
_HINTS: Mapping[str, str] = {"rand": _SEED, "random": _SEED}
_APART = frozenset(_APART_NAMES.split())
# Those of which WITHIN GROUP (ORDER BY x) gives the first argument.
_ORDERED_SET = frozenset(
    {"mode", "percentile_cont", "percentile_disc", "quantile_cont", "quantile_disc"}
)


# Those whose arguments have names: fields of what they make, and how deep a list is unnested.
_TAKING_NAMES = frozenset(
    {"struct", "struct_insert", "struct_pack", "struct_update", "union_value", "unnest"}
)
_NAMES = frozenset({TokenType.COLON_EQ, TokenType.FARROW})


@dataclass(slots=True)
class TokenCall:
    """A word with parentheses behind it, which may be a call.

    Attributes:
        name: the word, in lower case.
        start: its offset in the text.
        length: of the word.
        count: how many arguments stand in the parentheses.
        behind_dot: whether it is a method, `x.upper()`, whose first argument stands before it.
        owner: the name before the dot, `x`; empty where something else stands there.
        is_certain: whether this is known to be a call without the parser's word for it.
        is_ordered: whether its first argument stands behind it, in WITHIN GROUP.
        has_names: whether arguments are given by name, as `a := 1`.
    """

    name: str
    start: int
    length: int
    count: int = 0
    behind_dot: bool = False
    owner: str = ""
    is_certain: bool = False
    is_ordered: bool = False
    has_names: bool = False


@dataclass(slots=True)
class _OpenBracket:
    """A parenthesis or bracket that has not been closed; None is no call's."""

    call: TokenCall | None
    counts: bool = True
    in_lambda: bool = False


def token_calls(tokens: Sequence[Token]) -> Mapping[int, TokenCall]:
    """What may be a call, by the offset of its name."""
    calls: dict[int, TokenCall] = {}
    stack: list[_OpenBracket] = []
    for i, token in enumerate(tokens):
        kind = token.token_type
        if kind in _OPENS:
            call = _call(tokens, i) if kind is TokenType.L_PAREN else None
            if call is not None:
                calls[call.start] = call
            begins_query = i + 1 < len(tokens) and tokens[i + 1].token_type in _BEGINS_QUERY
            stack.append(_OpenBracket(call, counts=not begins_query))
        elif kind in _CLOSES:
            call = stack.pop().call if stack else None
            if call is not None and call.name in _ORDERED_SET:
                call.is_ordered = _is_ordered(tokens, i)
        elif stack and stack[-1].call is not None:
            _inside(stack[-1], stack[-1].call, token)
    return calls


def _call(tokens: Sequence[Token], i: int) -> TokenCall | None:
    """The call whose parenthesis stands at a place."""
    before = tokens[i - 1] if i else None
    if before is None or not before.text or before.token_type is TokenType.STRING:
        return None
    name = before.text.lower()
    empty = i + 1 < len(tokens) and tokens[i + 1].token_type is TokenType.R_PAREN
    behind_dot = i > 1 and tokens[i - 2].token_type is TokenType.DOT
    length = before.end - before.start + 1
    is_certain = name in _APART and is_called(tokens, i - 1)
    owner = _owner(tokens, i - 2) if behind_dot else ""
    return TokenCall(name, before.start, length, 0 if empty else 1, behind_dot, owner, is_certain)


def _owner(tokens: Sequence[Token], dot: int) -> str:
    """The name, with parts between dots, that ends at a dot."""
    parts: list[str] = []
    while dot > 0 and tokens[dot].token_type is TokenType.DOT and _is_word(tokens[dot - 1]):
        parts.insert(0, tokens[dot - 1].text)
        dot -= 2
    return ".".join(parts)


def _is_word(token: Token) -> bool:
    return token.token_type is TokenType.IDENTIFIER or token.text.isidentifier()


def _is_ordered(tokens: Sequence[Token], i: int) -> bool:
    """Whether WITHIN GROUP stands behind the parenthesis that closes a call."""
    return [token.text.upper() for token in tokens[i + 1 : i + 3]] == ["WITHIN", "GROUP"]


def _inside(place: _OpenBracket, call: TokenCall, token: Token) -> None:
    """Count a token that stands right inside the parentheses of a call."""
    kind, word = token.token_type, token.text.upper()
    if kind in _ENDS_ARGUMENTS:
        place.counts = False
    elif word == "LAMBDA":
        place.in_lambda = True
    elif kind is TokenType.COLON:
        place.in_lambda = False
    elif kind in _NAMES:
        call.has_names = True
    elif kind is TokenType.COMMA or word in _PARTING.get(call.name, ()):
        call.count += place.counts and not place.in_lambda


def check_arguments(tree: exp.Expr, calls: Mapping[int, TokenCall]) -> None:
    """Refuse calls with a number of arguments, or names of them, that their function does not take.

    `tree`: of the statement; `calls`: of the tokens that it was made of. Raises ProgrammingError: a
    call has too few or too many, or gives them by name (42883).
    """
    if not calls:
        return
    for call in calls.values():
        if call.is_certain:
            _check(call)
    without_place = []
    unread = set(calls)
    for node in nodes_of(tree, exp.Func):
        call_tokens = calls.get(node.meta.get("start", -1))
        if call_tokens is None:
            without_place.append(node)
            continue
        unread.discard(call_tokens.start)
        if call_tokens.name not in FUNCTIONS and (
            call_tokens.name in INNER_NAMES or _stands_for_other(node)
        ):
            raise undefined_function(
                call_tokens.name, SourceSpan(call_tokens.start, call_tokens.length)
            )
        _check(call_tokens)
        node.meta[SOURCE_NAME] = call_tokens.name
    _name_written(without_place, frozenset(calls[start].name for start in unread))
    for table in nodes_of(tree, exp.Table):
        source = table.this
        if isinstance(source, exp.Expr) and not isinstance(source, exp.Identifier):
            call_tokens = calls.get(source.meta.get("start", -1))
            if call_tokens is not None:
                source.meta[SOURCE_NAME] = call_tokens.name  # such as mod(), an operator


def _name_written(nodes: Sequence[exp.Func], names: frozenset[str]) -> None:
    """Note the written names of nodes whose place the parser did not keep."""
    for node in nodes if names else ():
        own = names.intersection(name.lower() for name in type(node).sql_names())
        if own:
            node.meta[SOURCE_NAME] = min(own, key=len)


def _stands_for_other(node: exp.Func) -> bool:
    """Whether the parser takes a call that is not on the list for a function that is."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return False
    names = {name.lower() for name in type(node).sql_names()}
    return not (names.isdisjoint(FUNCTIONS) and names.isdisjoint(NODE_NAMES))


def check_unread(tokens: Sequence[Token]) -> None:
    """The same of a statement that the parser did not take, which may be for such a call.

    Raises ProgrammingError: a call has too few or too many (42883).
    """
    index_of = {token.start: i for i, token in enumerate(tokens)}
    for call in token_calls(tokens).values():
        if is_called(tokens, index_of[call.start]):
            _check(call)


def _check(call: TokenCall) -> None:
    function = FUNCTIONS.get(call.name)
    if call.has_names and function is not None and call.name not in _TAKING_NAMES:
        raise ProgrammingError(
            f"{call.name}() takes no arguments by name",
            hint="give them in their order, without := and =>",
            span=SourceSpan(call.start, call.length),
            sqlstate="42883",
        )
    arity = None if function is None else function.arity
    count = call.count + call.behind_dot + call.is_ordered
    if arity is None or arity.allows(count):
        return
    ordered = ", that of WITHIN GROUP counted" if call.is_ordered else ""
    if call.owner:
        raise ProgrammingError(
            f"function {call.owner}.{call.name}() does not exist",
            hint=f"functions belong to no schema: write {call.name}(..) alone"
            if "." in call.owner and arity.allows(count - 1)
            else f"functions belong to no schema, so x.{call.name}() is {call.name}(x), and "
            f"{call.name}() takes {arity}, not {count}{ordered}",
            span=SourceSpan(call.start, call.length),
            sqlstate="42883",
        )
    raise ProgrammingError(
        f"{call.name}() takes {arity}, not {count}{ordered}",
        hint=_HINTS.get(call.name),
        span=SourceSpan(call.start, call.length),
        sqlstate="42883",
    )


def undefined_function(name: str, span: SourceSpan | None) -> ProgrammingError:
    """The error of a call of what is not on the list, with a near name if there is one."""
    close = difflib.get_close_matches(name, FUNCTIONS, n=1, cutoff=0.8)
    return ProgrammingError(
        f"function {name}() does not exist",
        hint=FOREIGN_FUNCTIONS.get(name) or (f"did you mean {close[0]}()?" if close else None),
        span=span,
        sqlstate="42883",
    )
