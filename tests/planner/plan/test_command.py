"""What plans without rows say of themselves in EXPLAIN."""

from dataclasses import dataclass

from pykudu_sql.planner.plan.command import Command


@dataclass(frozen=True, slots=True)
class Rename(Command, headline="RENAME {0.name} TO {0.other}"):
    name: str
    other: str


@dataclass(frozen=True, slots=True)
class Wait(Command, headline="WAIT", cacheable=True):
    pass


@dataclass(frozen=True, slots=True)
class Rest(Wait, headline="REST"):
    pass


def test_the_headline_shows_attributes_as_they_are() -> None:
    assert Rename("a", "{0.name}").headline == "RENAME a TO {0.name}"


def test_a_plan_is_kept_only_if_it_says_so_and_has_no_parameters() -> None:
    assert (Rename.cacheable, Rename.parameters) == (False, ())
    assert (Wait.cacheable, Wait.parameters) == (True, ())


def test_a_subclass_keeps_what_it_does_not_say_anew() -> None:
    assert (Rest().headline, Rest.cacheable) == ("REST", True)
    assert Wait().headline == "WAIT"
