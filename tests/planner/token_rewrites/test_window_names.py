"""OVER has a name or brackets behind it."""

import pytest

from pykudu_sql.planner.parse.dialect import Kudu
from pykudu_sql.planner.token_rewrites.window_names import check_windows
from pykudu_sql.storage.errors import SyntaxError


@pytest.mark.parametrize("behind", [" FROM t", ", a FROM t", " AS n FROM t", ""])
def test_over_alone_is_refused_at_its_place(behind: str) -> None:
    with pytest.raises(SyntaxError, match='near "OVER"') as caught:
        check_windows(Kudu().tokenize(f"SELECT count(*) OVER{behind}"))
    assert caught.value.span is not None
    assert caught.value.span.start == len("SELECT count(*) ")


@pytest.mark.parametrize(
    "window", ["()", "w", '"w"', "(w ORDER BY a)", "rows", "(PARTITION BY a) AS over"]
)
def test_named_and_written_windows_pass(window: str) -> None:
    check_windows(Kudu().tokenize(f"SELECT count(*) OVER {window} FROM t"))
