"""PREPARE, EXECUTE and DEALLOCATE, in the forms of PostgreSQL and DuckDB, and EXECUTE in MySQL's.

The statement behind PREPARE is planned once, so that its errors show there. A session keeps its
text, and the plan under the text as that of every statement: it is planned anew when the tables
have changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from sqlglot import exp

from pykudu_sql.planner.constant_folding.constant import Constant, Hole, constant
from pykudu_sql.planner.constant_folding.moment import constant_value, fold_current
from pykudu_sql.planner.ddl.ddl_constants import expression_tree
from pykudu_sql.planner.ddl_grammar.syntax import Expression
from pykudu_sql.planner.ddl_grammar.type_parser import type_name
from pykudu_sql.planner.operands.value import ParameterKey
from pykudu_sql.planner.parse.dialect import parse
from pykudu_sql.planner.parse.error_spans import errors_at
from pykudu_sql.planner.parse.lexer import TOKEN_PATTERN, TokenKind, unquote
from pykudu_sql.planner.parse.suggestion import near
from pykudu_sql.planner.parse.token_stream import TokenStream
from pykudu_sql.planner.plan.context import PlanContext
from pykudu_sql.planner.plan.plan import Plan
from pykudu_sql.planner.plan.prepared_plans import (
    Deallocate,
    ExecutePrepared,
    PassedOn,
    Prepare,
    PreparedText,
)
from pykudu_sql.planner.printing.engine_sql import to_sql
from pykudu_sql.storage.errors import (
    InterfaceError,
    InternalError,
    NotSupportedError,
    ProgrammingError,
    SourceSpan,
    UndefinedObjectError,
)

_MOST_PARAMETERS = 65_535  # PostgreSQL's limit
_NAME_EXPECTED = "a prepared statement's name"
_NOT_PREPARED = frozenset({"PREPARE", "EXECUTE", "DEALLOCATE"})
_Arguments = Sequence[tuple[str | None, Expression]]


def prepare_head(tokens: TokenStream) -> tuple[str, tuple[str, ...]]:
    """`PREPARE name [(types)] AS`: the name, and the types.

    Raises SyntaxError: something else comes next; NotSupportedError: so does a statement that
    cannot be prepared; ProgrammingError: there is no such type.
    """
    tokens.expect("PREPARE")
    name = tokens.name(_NAME_EXPECTED)
    types: list[str] = []
    checked: set[str] = set()
    if tokens.accept_symbol("("):
        while not types or tokens.accept_symbol(","):
            place = tokens.current
            types.append(type_name(tokens))
            if types[-1] not in checked:
                with errors_at(place.span):
                    parse(f"SELECT CAST(NULL AS {types[-1]})")
                checked.add(types[-1])
        tokens.expect_symbol(")")
    if not tokens.accept("AS"):
        raise tokens.error("AS and a statement, or FROM and one in quotes,")
    first = tokens.current
    if first.word in _NOT_PREPARED:
        raise NotSupportedError(f"{first.word} cannot be prepared", span=first.span)
    return name, tuple(types)


def plan_prepare(name: str, types: tuple[str, ...], text: str, plan: Plan) -> Prepare:
    """The plan of a PREPARE.

    `text`, `plan`: of the statement behind it. Raises InterfaceError: it takes parameters of two
    kinds, or fewer than there are types; ProgrammingError: a number behind a dollar is none that a
    parameter has.
    """
    keys = tuple(dict.fromkeys(plan.parameters))
    if len(set(map(type, keys))) > 1:
        raise InterfaceError(
            "a statement takes `?` or `:name` parameters, not both", sqlstate="07001"
        )
    if keys and all(isinstance(key, str) and key.isdecimal() for key in keys):  # `$1`
        keys = tuple(str(i + 1) for i in range(max(map(_number, keys))))
    elif keys and isinstance(keys[0], int):
        keys = tuple(range(len(keys)))
    if len(types) > len(keys):
        raise InterfaceError(
            f"prepared statement '{name}' has {len(types)} types for {len(keys)} parameter(s)",
            hint="write a `?` for each parameter, or a number behind a dollar",
            sqlstate="07001",
        )
    return Prepare(name, PreparedText(text, keys, types))


def _number(key: ParameterKey) -> int:
    """The number behind a dollar, as far as one EXECUTE can give so many values."""
    text = str(key)
    number = int(text) if len(text) <= len(str(_MOST_PARAMETERS)) else 0
    if str(number) != text or not 1 <= number <= _MOST_PARAMETERS:
        raise ProgrammingError(
            f"${text:.80} is no parameter",
            hint=f"their numbers go from 1 to {_MOST_PARAMETERS}, without zeros in front",
            sqlstate="42P02",
        )
    return number


def execute(tokens: TokenStream, context: PlanContext) -> Plan:
    """`EXECUTE name [(value, ...)]`, `EXECUTE name (parameter := value, ...)`.

    Also `EXECUTE name USING value, ...`.
    """
    tokens.expect("EXECUTE")
    place = tokens.current
    if tokens.at("IMMEDIATE") and tokens.ahead(1).kind is TokenKind.STRING:
        raise NotSupportedError(
            "EXECUTE IMMEDIATE is not supported",
            hint="write the statement itself, or PREPARE name FROM 'statement' and EXECUTE name",
            span=place.span,
        )
    name = tokens.name(_NAME_EXPECTED)
    statement = context.prepared.get(name)
    if statement is None:
        raise _unknown(name, place.span, context.prepared)
    arguments = _arguments(tokens)
    tokens.expect_end()
    by_key = _by_key(name, statement, arguments, place.span)
    types = dict(zip(statement.keys, statement.types, strict=False))
    questions = count()
    values = [
        (key, _value(by_key[key], types.get(key), context, questions))
        for key in sorted(by_key, key=lambda key: by_key[key].start)
    ]
    parameters = tuple(value.key for _, value in values if isinstance(value, PassedOn))
    return ExecutePrepared(name, statement.text, tuple(values), parameters)


def deallocate(tokens: TokenStream, context: PlanContext) -> Plan:
    """`DEALLOCATE [PREPARE] name | ALL`, `DROP PREPARE name`."""
    tokens.take()
    tokens.accept("PREPARE")
    place = tokens.current
    every = tokens.at("ALL")
    name = tokens.name(_NAME_EXPECTED)
    tokens.expect_end()
    if every:
        return Deallocate(None)
    if name not in context.prepared:
        raise _unknown(name, place.span, context.prepared)
    return Deallocate(name)


def _unknown(
    name: str, span: SourceSpan, names: Mapping[str, PreparedText]
) -> UndefinedObjectError:
    return UndefinedObjectError(
        f"there is no prepared statement '{name}'",
        hint=near(name, tuple(names)) or "PREPARE name AS ... makes one, for this session",
        span=span,
        sqlstate="26000",
    )


def _arguments(tokens: TokenStream) -> _Arguments:
    """What stands in the parentheses or behind USING: names, if they are given, and expressions."""
    arguments: list[tuple[str | None, Expression]] = []
    if tokens.accept("USING"):
        while not arguments or tokens.accept_symbol(","):
            arguments.append((None, _expression(tokens)))
        return arguments
    if not tokens.accept_symbol("(") or tokens.accept_symbol(")"):
        return arguments
    while True:
        name = None
        if tokens.ahead(1).text in (":=", "=>"):
            name = tokens.name("a parameter's name")
            tokens.take()
        elif tokens.ahead(1).text == "=" and tokens.ahead(2).text == ">":
            name = tokens.name("a parameter's name")
            tokens.take()
            tokens.take()
        arguments.append((name, _expression(tokens)))
        if not tokens.accept_symbol(","):
            break
    tokens.expect_symbol(")")
    return arguments


def _expression(tokens: TokenStream) -> Expression:
    """What stands up to the next comma or parenthesis outside of others."""
    first = last = tokens.current
    depth = 0
    while not tokens.at_end() and (depth or tokens.current.text not in (",", ")")):
        last = tokens.take()
        depth += (last.text in ("(", "[", "{")) - (last.text in (")", "]", "}"))
    if first is tokens.current:
        raise tokens.error("a value")
    return Expression(tokens.text[first.start : last.end], first.start)


def _by_key(
    name: str, statement: PreparedText, arguments: _Arguments, span: SourceSpan
) -> dict[ParameterKey, Expression]:
    """The expression of each parameter.

    Raises InterfaceError: one is missing, or given twice, or is none of the statement's.
    """
    keys, by_key = statement.keys, dict[ParameterKey, Expression]()
    named = any(isinstance(key, str) and not key.isdecimal() for key in keys)
    if len(arguments) != len(keys):
        raise InterfaceError(
            f"prepared statement '{name}' takes {len(keys)} parameter(s), "
            f"{len(arguments)} were given",
            span=span,
            sqlstate="07001",
        )
    for place, (written, expression) in enumerate(arguments):
        if (written is None) == named:
            argument_list = ", ".join(f"{key} := .." for key in keys)
            raise InterfaceError(
                f"the parameters of prepared statement '{name}' have {'' if named else 'no '}names",
                hint=f"write EXECUTE {name} ({argument_list if named else '.., ..'})",
                span=expression.span,
                sqlstate="07001",
            )
        key = keys[place] if written is None else written
        if key not in keys or key in by_key:
            raise InterfaceError(
                f"prepared statement '{name}' takes no parameter '{key}'"
                if key not in keys
                else f"parameter '{key}' of prepared statement '{name}' is given twice",
                hint=near(str(key), [str(each) for each in keys]),
                span=expression.span,
                sqlstate="07001",
            )
        by_key[key] = expression
    return by_key


def _value(
    expression: Expression, type_text: str | None, context: PlanContext, questions: Iterator[int]
) -> Any:
    """The Python value of an argument, or what is passed on.

    `questions`: the positions of the `?` that come next.

    Raises ProgrammingError: it is no constant; DataError: it is none of the type.
    """
    written = _literal_or_parameter(expression.text)
    if isinstance(written, Constant) and type_text is None:
        return written.value
    with errors_at(expression.span):
        value: Constant | Hole | None = written
        if not isinstance(written, Hole):
            tree = fold_current(expression_tree(expression), context)
            value = constant(tree, context)
        if isinstance(value, Hole):
            key = next(questions) if isinstance(value.key, int) else value.key
            return PassedOn(key, None if type_text is None else _conversion(type_text))
        if value is not None and type_text is not None:
            return constant_value(_cast(tree, type_text), context)
    if value is None:
        raise ProgrammingError(
            f"{expression} is no constant",
            hint="EXECUTE takes literals, expressions of literals, and parameters",
            span=expression.span,
            sqlstate="42P10",
        )
    return value.value


def _literal_or_parameter(text: str) -> Constant | Hole | None:
    """An integer, a text or a parameter, which are the most, without a parser; None of others."""
    single = TOKEN_PATTERN.fullmatch(text)
    if single is None:
        return None
    if single.lastindex == TokenKind.STRING:
        return Constant(unquote(text))
    if single.lastindex == TokenKind.PARAMETER:
        return Hole(0 if text == "?" else text[1:])
    is_small = single.lastindex == TokenKind.NUMBER and text.isdecimal() and len(text) < 19
    return Constant(int(text)) if is_small else None


def _cast(tree: exp.Expr, type_text: str) -> exp.Expr:
    """An expression converted to a type that PREPARE has checked."""
    cast = parse(f"SELECT CAST(NULL AS {type_text})").find(exp.Cast)
    if cast is None:
        raise InternalError(f"{type_text} is read as no type")
    cast.set("this", tree)
    return cast


def _conversion(type_text: str) -> str:
    """The engine's query for a value of the type, made of `$1`."""
    return to_sql(exp.select(_cast(exp.Placeholder(this="1"), type_text)))
