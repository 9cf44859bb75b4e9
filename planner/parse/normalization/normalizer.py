"""What a normalizer is: a function that spells the words of one node of a parsed statement."""

from collections.abc import Callable, Mapping

from sqlglot import exp

from pykudu_sql.storage.errors import SourceSpan

# Finds the position of a word in the statement.
SpanOf = Callable[[str], SourceSpan | None]
# Checks and spells, in place, the words that a node holds beside its children. Raises
# InvalidValueError: there is no such unit; ProgrammingError: no such type; NotSupportedError: it is
# not offered; SyntaxError: it may not stand there.
Normalizer = Callable[[exp.Expr, SpanOf], None]
Normalizers = Mapping[type[exp.Expr], Normalizer]
