"""Guards: imports point one way, files and functions stay small, nothing speaks of one machine."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "intransit"
FILES = sorted(SOURCE.rglob("*.py"))

# A layer may import from itself and from layers below it (smaller numbers).
LAYERS = {
    "arrays": 0,
    "errors": 0,
    "lazy": 0,
    "percent": 0,
    "extras": 1,
    "seeds": 1,
    "threads": 1,
    "core": 1,
    "checks": 2,
    "measurements": 2,
    "doubts": 2,
    "tables": 2,
    "timeline": 3,
    "support": 3,
    "filter": 4,
    "study": 3,
    "draws": 3,
    "fitting": 3,
    "simulate": 3,
    "recover": 3,
    "theory": 3,
    "model": 3,
    "trajectory": 4,
    "smooth": 4,
    "inference": 4,
    "answers": 4,
    "datasets": 4,
    "backtest": 5,
    "estimator": 5,
    "experiments": 5,
    "findings": 6,
    "render": 7,
    "cli": 8,
    "commands": 8,
}
FACE = 4.5  # `import intransit`: the public names, for what is built on the library
NOT_IN_CORE = {"rich", "matplotlib", "cyclopts", "pandas", "polars", "duckdb", "pathlib", "logging"}
DRAWING = ("render/", "experiments/")  # where matplotlib may be loaded, when a picture is drawn
LONGEST_FILE, LONGEST_FUNCTION = 500, 60


def name_of(path):
    return str(path.relative_to(ROOT)) if isinstance(path, Path) else None


def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(tree):
    """Yield (module, node) of every import, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            if node.module == "intransit":
                yield from ((f"intransit.{alias.name}", node) for alias in node.names)
            else:
                yield node.module, node


def layer(dotted):
    """Return the layer of intransit.<part>...; names that are no module belong to its face."""
    part = dotted.split(".")[1] if "." in dotted else "__init__"
    known = (SOURCE / part).is_dir() or (SOURCE / f"{part}.py").exists()
    if part == "__init__" or not known:
        return FACE
    # A file beside `smooth.py` whose name begins like it belongs to the same layer.
    part = "smooth" if part.startswith("smooth") else part
    assert part in LAYERS, f"intransit.{part} has no layer yet: give it one in this test"
    return LAYERS[part]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_point_one_way(path):
    here = layer(".".join(["intransit", *path.relative_to(SOURCE).with_suffix("").parts]))
    for module, node in imports(parse(path)):
        if module.split(".")[0] == "intransit":
            assert layer(module) <= here, f"line {node.lineno} imports {module}, which is above"


@pytest.mark.parametrize("path", sorted((SOURCE / "core").glob("*.py")), ids=name_of)
def test_core_knows_arrays_only(path):
    """No names, dates, files, printing: see the first page of the style."""
    for module, node in imports(parse(path)):
        assert module.split(".")[0] not in NOT_IN_CORE, f"line {node.lineno} imports {module}"
        if module.startswith("intransit."):
            assert module.split(".")[1] in {"core", "arrays", "errors"}, module


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
    """A file or function beyond these is two ideas, one of them still without a name."""
    assert len(path.read_text(encoding="utf-8").splitlines()) < LONGEST_FILE
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef):
            length = lines_without_docstring(node)
            assert length < LONGEST_FUNCTION, f"{node.name} has {length} lines"


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
