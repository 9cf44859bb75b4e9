"""What a call makes of large arguments is measured, of each function of the table."""

from tests.pykudu_sql.limits.costly_calls import measured, sample

SIZE = 1_000_000
MOST_MIB = 100  # that a call may add; one whose value grows with a product of sizes adds 1,000


def test_no_function_makes_much_of_large_arguments_without_a_check() -> None:
    lines = list(sample(SIZE))
    calls = list(measured(lines))
    assert [line for *_, line in calls] == lines
    assert [call for call in calls if call[0] == float("inf") or call[1] > MOST_MIB] == []
