"""The documents: their code runs, their links lead somewhere, and nothing public is left out."""

import ast
import contextlib
import doctest
import inspect
import io
import re
from pathlib import Path

import pytest

import intransit
from intransit import cli, datasets, study, theory

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ALL_PAGES = [*PAGES, *sorted((ROOT / "docs").glob("decisions/*.md")), ROOT / "benchmarks/README.md"]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PUBLIC = [
    *((intransit, name) for name in intransit.__all__),
    *((theory, name) for name in theory.__all__),
    *((study, name) for name in study.__all__),
    *((datasets, name) for name in datasets.__all__),
]


def name_of(value):
    return (
        str(value.relative_to(ROOT))
        if isinstance(value, Path)
        else getattr(value, "__name__", value)
    )


def blocks(page):
    return FENCE.findall(page.read_text(encoding="utf-8"))


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


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=name_of)
def test_every_public_name_is_described_somewhere(module, name):
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    documented = re.search(rf"\b{name}\b", text)
    documented = documented or (module is study and result_of_a_function(name))
    assert documented, f"{module.__name__}.{name} is in no document"


def result_of_a_function(name):
    """Return whether a study function, itself described, returns this; its docstring says what."""
    functions = [getattr(study, other) for other in study.__all__ if other.islower()]
    return any(name in str(inspect.signature(function)) for function in functions)


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=name_of)
def test_every_public_name_has_a_docstring_that_explains_its_parameters(module, name):
    thing = getattr(module, name)
    if isinstance(thing, float):  # a constant has a line in the documents instead
        return
    assert inspect.getdoc(thing)
    if inspect.isclass(thing):
        for attribute, method in vars(thing).items():
            if not attribute.startswith("_") and isinstance(method, property | classmethod):
                assert inspect.getdoc(method), f"{name}.{attribute}"
    elif inspect.isfunction(thing):
        missing = undocumented(thing)
        assert not missing, f"{name} does not explain {missing}"


def undocumented(function):
    """Return parameters that neither stand in the docstring nor explain themselves.

    A docstring of one idea may name its parameters in its sentences; only a function with more
    than three of them needs a list, and names that say it all (`n_items`) need no words.
    """
    document = inspect.getdoc(function) or ""
    parameters = [name for name in inspect.signature(function).parameters if name != "self"]
    plain = {"n_items", "n_factors", "n_outcomes", "n_periods", "margins", "rng"}
    plain |= {"noise_scale", "drift_scale", "strengths", "exposures", "operator", "measurements"}
    if "Parameters\n-------" in document:
        return [name for name in parameters if not re.search(rf"\b{name}\b", document)]
    words = document.replace("`", "")
    return [
        name
        for name in parameters
        if name not in plain and not re.search(rf"\b{name.rstrip('s')}", words)
    ]


def test_every_command_is_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [name for name in cli.app if not name.startswith("-")]
    assert [name for name in commands if f"intransit {name}" not in readme] == []


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


def test_every_decision_says_situation_choice_and_cost_and_is_listed():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {page.name[:4]}. ")
        assert all(f"**{part}.**" in text for part in ("Situation", "Choice", "Cost")), page.name
        assert f"decisions/{page.name}" in index


def test_modules_and_public_functions_open_with_a_sentence():
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        document = ast.get_docstring(tree)
        assert document, f"{path.name} has no docstring"
        assert document.splitlines()[0].rstrip().endswith((".", "?", ":")) or len(document) > 80
