"""The documents: their code runs, their links lead somewhere, and nothing public is left out."""

import ast
import contextlib
import doctest
import inspect
import io
import re
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import intransit
from intransit import backtest, cli, datasets, estimator, experiments, study, theory
from intransit.arrays import described

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = ("", "guides", "explanation", "reference")  # not those whose pages are made
PAGES = [
    ROOT / "README.md",
    *(page for name in FOLDERS for page in sorted((DOCS / name).glob("*.md"))),
]
BESIDE = ("CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "benchmarks/README.md")
ALL_PAGES = [*PAGES, *sorted(DOCS.glob("decisions/*.md")), *(ROOT / name for name in BESIDE)]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGES = (intransit, theory, study, datasets, backtest, estimator, experiments)
PUBLIC = [(package, name) for package in PACKAGES for name in package.__all__]
FIRST_COMMAND = "intransit report battles.csv --out battles.html"


def name_of(value):
    return (
        str(value.relative_to(ROOT))
        if isinstance(value, Path)
        else getattr(value, "__name__", value)
    )


def blocks(page):
    return FENCE.findall(page.read_text(encoding="utf-8"))


@pytest.mark.usefixtures("each_fit_once")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name_of)
def test_code_in_the_pages_runs(page):
    """Blocks of a page share their names; what a ``print`` says stands beside it and is checked."""
    scope = {"__name__": "page"}
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    runner, parser = doctest.DocTestRunner(optionflags=flags), doctest.DocTestParser()
    for number, block in enumerate(blocks(page)):
        if ">>>" in block:
            test = parser.get_doctest(block, scope, f"{page.name}, block {number}", None, 0)
            runner.run(test, clear_globs=False)
            scope = test.globs
        else:
            check_prints(block, scope)
    assert runner.summarize(verbose=False).failed == 0


def check_prints(block, scope):
    expected = re.findall(r"^print\(.*\)\s+# (.*)$", block, re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(block, "<page>", "exec"), scope)
    found = said.getvalue().splitlines()
    assert len(found) == len(expected)
    for line, comment in zip(found, expected, strict=True):
        pattern = re.escape(comment).replace(re.escape("..."), ".*")
        assert re.fullmatch(pattern, line), f"prints {line!r}, not {comment!r}"


@pytest.mark.parametrize("page", ALL_PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(linked), f"{page.name} links to {target}"


def anchors(page):
    """Return the anchors that headings get: lower case, no punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_the_reference_has_every_public_name_once_and_no_other():
    listed = []
    for page in sorted((DOCS / "reference").glob("*.md")):
        for block in re.findall(r"```{eval-rst}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            package = re.search(r"currentmodule:: (\S+)", block)[1]
            listed += [
                f"{package}.{name}" for name in re.findall(r"^   (\w+)$", block, re.MULTILINE)
            ]
    public = [f"{package.__name__}.{name}" for package, name in PUBLIC]
    modules = [f"intransit.{package.__name__.rpartition('.')[2]}" for package in PACKAGES[1:]]
    assert sorted(listed) == sorted(set(public) - set(modules))


def with_methods(name, thing):
    """Yield the name of a public function, or of a class and what it offers, inherited or not."""
    yield name
    if inspect.isclass(thing):
        kinds = (classmethod, property, type(with_methods))
        ours = [base for base in thing.__mro__ if base.__module__.split(".")[0] == "intransit"]
        offered = {key: part for base in reversed(ours) for key, part in vars(base).items()}
        parts = [key for key, part in offered.items() if isinstance(part, kinds)]
        yield from (f"{name}.{key}" for key in parts if not key.startswith("_"))


def faults(path, part):
    """Return what numpydoc finds wrong with a docstring, but for what we leave out."""
    left, itself = {"ES01", "SA01", "PR04"}, ""
    if "." in path:
        left.add("EX01")
        itself = next(iter(inspect.signature(part).parameters)) if inspect.isfunction(part) else ""
    elif inspect.isclass(part) and (
        "Attributes\n-----" in (inspect.getdoc(part) or "") or getattr(part, "_is_protocol", False)
    ):
        left.add("PR01")
    errors = validate(get_doc_object(part))["errors"]
    # What stands for `self` in a function that a class takes over need not be explained.
    fine = f"Parameters {{{itself!r}}} not documented"
    return [f"{code} {text}" for code, text in errors if code not in left and text != fine]


def test_docstrings_are_written_as_numpydoc_has_them():
    """Every public function and method says what it takes and returns; functions and classes how.

    Left out are types (PR04), which stand in signatures, and see-also lists and extended summaries
    (SA01, ES01), which the site has.  Examples of a method (EX01) may stand with its class, and a
    record documents its fields as attributes, not as parameters (PR01); a protocol is not made.
    """
    found = [
        f"{package.__name__}.{path}: {fault}"
        for package, name in PUBLIC
        if inspect.isclass(thing := getattr(package, name)) or inspect.isfunction(thing)
        for path in with_methods(name, thing)
        for fault in faults(path, attrgetter(path)(package))
    ]
    assert not found, f"{len(found)} faults:\n" + "\n".join(found)


def test_a_record_lists_its_fields_in_their_order_those_it_inherits_first():
    """Above the sections that follow; the words stand beside the types alone."""

    @dataclass(frozen=True)
    class Place:
        """Where it is."""

        x: Annotated[float, "Along."]
        hidden: float = 0.0

    @described
    @dataclass(frozen=True)
    class Spot(Place):
        """A spot.

        Examples
        --------
        >>> 1
        1
        """

        y: Annotated[float, "Up."] = 0.0

    listed = "Attributes\n----------\nx\n    Along.\ny\n    Up."
    assert Spot.__doc__ == f"A spot.\n\n{listed}\n\nExamples\n--------\n>>> 1\n1\n"
    assert described(Place).__doc__ == "Where it is.\n\nAttributes\n----------\nx\n    Along.\n"


def test_every_command_is_in_the_readme_the_guide_and_the_reference():
    pages = {"README.md": "`{}`", "docs/commands.md": "    intransit {}"}
    pages["docs/reference/commands.md"] = "```{{help}} {}\n"
    for page, form in pages.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for name in (name for name in cli.app if not name.startswith("-")):
            assert form.format(name) in text, f"{page}: {name}"


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/commands.md"])
def test_the_first_command_is_the_one_that_the_help_names(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    first = re.search(r"^ *(intransit \w+ .*)$", text, re.MULTILINE)[1]
    assert first == FIRST_COMMAND
    assert FIRST_COMMAND in cli.app.help_prologue


def test_the_readme_is_one_page():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 70
    assert all(f"make {target} " in text for target in ("demo", "test"))


def test_the_sections_that_the_code_and_the_documents_name_are_listed():
    index = (DOCS / "model.md").read_text(encoding="utf-8")
    listed = {int(number) for number in re.findall(r"^\| (\d+) \|", index, re.MULTILINE)}
    texts = [*(ROOT / "src").rglob("*.py"), *DOCS.glob("decisions/*.md")]
    named = re.findall(
        r"model\.md, sections? (\d+)", "\n".join(path.read_text("utf-8") for path in texts)
    )
    assert named
    assert {int(number) for number in named} <= listed


def test_the_make_targets_that_the_documents_name_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for page in ALL_PAGES:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"(?:`|^ +)make ([a-z]+)\b", text, re.MULTILINE)
        assert set(named) <= targets, page.name


def test_the_benchmarks_that_the_documents_name_exist():
    names = {path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")}
    for page in ALL_PAGES:
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"python -m benchmarks ([a-z_0-9]+)", text)) <= names, page.name


def test_the_files_that_contributing_and_the_explanation_name_exist():
    """Paths as in `model/terms.py` are those below the package, or from the root."""
    pages = [ROOT / "CONTRIBUTING.md", *sorted((DOCS / "explanation").glob("*.md"))]
    for page in pages:
        for named in re.findall(r"`((?:\w+/)+\w+\.\w+)`", page.read_text(encoding="utf-8")):
            places = (ROOT / named, ROOT / "src" / "intransit" / named)
            assert any(place.exists() for place in places), f"{page.name} names {named}"


def test_the_names_that_contributing_tells_to_extend_exist():
    """As in `_numbers` of `inference/paths.py`: what stands in a how-to is in the code."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    guides = text[text.index("## How to add a term") : text.index("## Documents")]
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    code += (ROOT / "tests" / "inference" / "worlds.py").read_text(encoding="utf-8")
    for name in set(re.findall(r"`(?:\w+\.)?(\w+)`", guides)):
        assert re.search(rf"\b{name}", code), f"CONTRIBUTING.md names {name}"


def test_every_decision_says_situation_choice_and_cost_and_is_listed():
    index = (DOCS / "decisions" / "index.md").read_text(encoding="utf-8")
    for page in sorted((DOCS / "decisions").glob("0*.md")):
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {page.name[:4]}. ")
        assert all(f"**{part}.**" in text for part in ("Situation", "Choice", "Cost")), page.name
        assert f"]({page.name})" in index


def test_modules_and_public_functions_open_with_a_sentence():
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        document = ast.get_docstring(tree)
        assert document, f"{path.name} has no docstring"
        assert document.splitlines()[0].rstrip().endswith((".", "?", ":")) or len(document) > 80
