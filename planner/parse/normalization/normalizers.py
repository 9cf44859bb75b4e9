"""The normalizer of each kind of node that holds words, quoted ones and string literals too.

sqlglot keeps such words as texts of its tree and prints them as they are. Here each becomes one of
a list, or the statement is refused with the position. What is printed is checked with the same
lists again (`node_allowlist`).
"""

from pykudu_sql.planner.parse.normalization.clause_normalizers import CLAUSE_NORMALIZERS
from pykudu_sql.planner.parse.normalization.expression_normalizers import EXPRESSION_NORMALIZERS
from pykudu_sql.planner.parse.normalization.normalizer import Normalizers
from pykudu_sql.planner.parse.normalization.unit_normalizers import UNIT_NORMALIZERS

NORMALIZERS: Normalizers = {**CLAUSE_NORMALIZERS, **EXPRESSION_NORMALIZERS, **UNIT_NORMALIZERS}
