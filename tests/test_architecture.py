"""Guards: imports point one way, files and functions stay small, nothing speaks of one machine."""

import ast
import importlib
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "intransit"
FILES = sorted(SOURCE.rglob("*.py"))

# A layer may import from itself and from layers below it (smaller numbers).  See CONTRIBUTING.md.
LAYERS = {
    "arrays": 0,
    "errors": 0,
    "percent": 0,
    "checks": 1,
    "kernels": 1,
    "plotting": 1,
    "tasks": 1,
    "skew": 2,
    "data": 3,
    "model": 4,
    "study": 4,
    "inference": 5,
    "analysis": 6,
    "datasets": 6,
    "theory": 6,
    "backtest": 7,
    "report": 8,
    "answer": 9,
    "groups": 11,
    "estimator": 11,
    "": 12,  # `import intransit`: the public names, for what is built on the library
    "experiments": 13,
    "cli": 14,
    "__main__": 15,
}
DRAWING = ("backtest/", "cli/", "experiments/", "plotting", "report/")  # where pictures are drawn
LONGEST_FILE, LONGEST_FUNCTION = 700, 60
MOST_MODULES_OF_A_REPORT = 60


def name_of(path):
    return str(path.relative_to(ROOT)) if isinstance(path, Path) else None


@cache
def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path):
    """Return the dotted name of a file of the package."""
    parts = ["intransit", *path.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


def imports(tree):
    """Yield (module, node) of every import, wherever it stands, also for type checkers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner if inner in MODULES else node.module), node


def named(tree):
    """Yield (module, node) of every module of ours that a string names.

    Neither docstrings count nor where data lie, as in `files("intransit.datasets")`.
    """
    words = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    words |= {id(part) for call in calls if ast.unparse(call.func) == "files" for part in call.args}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in words else None
        if isinstance(text, str) and re.fullmatch(r"intransit(\.[a-z_]\w*)+(:\w+)?", text):
            yield text.split(":")[0], node


def used(path):
    """Yield (module, node) of every module of ours that a file imports or names."""
    tree = parse(path)
    for module, node in (*imports(tree), *named(tree)):
        if module.split(".")[0] == "intransit":
            yield module, node


def layer(dotted):
    """Return the first part of intransit.<part>... and its layer."""
    part = dotted.split(".")[1] if "." in dotted else ""
    assert part in LAYERS, f"intransit.{part} has no layer yet: give it one in this test"
    return part, LAYERS[part]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_down(path):
    """Between packages, imports go to smaller numbers only, also for types, also by name."""
    part, here = layer(module_of(path))
    for module, node in used(path):
        other, there = layer(module)
        down = other == part or there < here
        assert down, f"line {node.lineno} uses {module}, which is not below"


def test_modules_do_not_go_round_in_circles():
    graph = {
        module: {other for other, _ in used(path) if other in MODULES and other != module}
        for module, path in MODULES.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_a_module_name_has_one_meaning():
    """Apart from commands, whose modules are called what the commands are called."""
    names = [m.rpartition(".")[2] for m in MODULES if not m.startswith("intransit.cli")]
    assert [name for name, times in Counter(names).items() if times > 1] == []


def test_a_class_name_has_one_meaning():
    names = [
        node.name
        for path in FILES
        for node in parse(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert [name for name, times in Counter(names).items() if times > 1] == []


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_kernels_live_with_kernels(path):
    """A change beside a kernel would throw away what was compiled: its cache goes by the file."""
    decorated = [
        node.name
        for node in parse(path).body
        if isinstance(node, ast.FunctionDef)
        and any("compiled" in ast.unparse(one) for one in node.decorator_list)
    ]
    assert not decorated or path.stem.endswith("kernels")


def test_a_report_runs_through_few_modules(tmp_path):
    table = tmp_path / "games.csv"
    rows = [f"x{i % 4},x{(i + 1) % 4},{i % 3 % 2}" for i in range(80)]
    table.write_text("\n".join(["a,b,result", *rows]), encoding="utf-8")
    page = str(tmp_path / "page.html")
    code = (
        "import sys; from intransit import cli\n"
        f"try: cli.app(['report', {str(table)!r}, '--out', {page!r}, '--effective', '5'])\n"
        "except SystemExit: pass\n"
        "print(len([m for m in sys.modules if m.split('.')[0] == 'intransit']))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(run.stdout.split()[-1]) <= MOST_MODULES_OF_A_REPORT


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_matplotlib_is_loaded_only_where_and_when_a_picture_is_drawn(path):
    tree = parse(path)
    for module, node in imports(tree):
        if module.split(".")[0] == "matplotlib":
            assert name_of(path).removeprefix("src/intransit/").startswith(DRAWING)
            assert node not in tree.body, "matplotlib is an extra: import it inside a function"


def test_importing_the_library_loads_nothing_heavy():
    """Neither the pictures nor the command line nor rich come with ``import intransit``."""
    heavy = "matplotlib rich cyclopts pandas polars duckdb scipy numba numpy ibis pyspark narwhals"
    code = f"import sys, intransit; print([m for m in '{heavy}'.split() if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_the_console_prints(path):
    for node in ast.walk(parse(path)):
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        assert not (called and node.func.id == "print"), f"line {node.lineno} prints"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_files_and_functions_stay_small(path):
    """A file or function beyond these is two ideas, one of them still without a name.

    Docstrings do not count: explaining a public name in full must not cost room for code.
    """
    tree = parse(path)
    n_lines = len(path.read_text(encoding="utf-8").splitlines()) - lines_of_docstrings(tree)
    assert n_lines < LONGEST_FILE, f"{n_lines} lines without docstrings"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            length = lines_without_docstring(node)
            assert length < LONGEST_FUNCTION, f"{node.name} has {length} lines"


def lines_of_docstrings(tree):
    """Return how many lines the docstrings of a module, its classes and its functions have."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documented = [
        node.body[0]
        for node in ast.walk(tree)
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None
    ]
    return sum(text.end_lineno - text.lineno + 1 for text in documented)


def lines_without_docstring(node):
    """Return the lines of a function's body, from its first statement after the docstring."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return node.end_lineno - body[0].lineno + 1 if body else 0


def tracked_text():
    kinds = {".py", ".md", ".toml", ".lock", ".cfg", ".yml", ".yaml", ".txt", ""}
    folders = ("src", "tests", "docs", "examples", "benchmarks", "tools", ".ci")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    files += [path for path in ROOT.glob("*") if path.name not in {".git", ".venv"}]
    return sorted(p for p in files if p.is_file() and p.suffix in kinds and p.name != "LICENSE")


@pytest.mark.parametrize("path", tracked_text(), ids=name_of)
def test_nothing_speaks_of_one_machine(path):
    """No absolute paths of somebody's disk, no addresses of a private index, no hosts."""
    text = path.read_text(encoding="utf-8")
    places = "|".join(["home", "work", "root", "Users", "mnt", "opt", "private"])
    assert not re.search(rf"(?<![\w.\-:/])/(?:{places})/[\w.]", text)
    assert not re.search(
        r"--(?:extra-)?index-ur[l]|--find-link[s]|fil[e]://|localhos[t]|127\.0\.0\.1", text
    )


def test_the_lock_pins_versions_and_nothing_else():
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line.strip() and not line.startswith("#")]
    assert pins
    assert [line for line in pins if not re.match(r"[\w.\-\[\]]+==[\w.+!]+( ;.*)?$", line)] == []


def test_every_benchmark_and_tool_can_be_loaded(monkeypatch):
    """They are run by hand: what moves in the library must not leave them behind."""
    files = [path for folder in ("benchmarks", "tools") for path in (ROOT / folder).glob("*.py")]
    names = [f"{path.parent.name}.{path.stem}" for path in files if not path.stem.startswith("__")]
    monkeypatch.syspath_prepend(ROOT)
    for name in names:
        importlib.import_module(name)
