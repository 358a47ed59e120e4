"""Settings of hypothesis, and the order in which several workers go through the tests."""

import pickle
from functools import wraps

import pytest
from hypothesis import settings

import intransit

# The first example pays for compilation; a deadline would measure the compiler.
settings.register_profile("project", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("project")

# Compiled loops are kept on disk.  Workers that begin alike compile the same loops at the same
# time, each for itself; so the first begins with what compiles most, the others with what reads
# tables or waits for a browser or a service, and by then find the loops on disk.  Short tests come
# last: there `--dist worksteal` takes them from whoever has most left.
BEGINNINGS = (
    ("tests/analysis/", "tests/inference/", "tests/experiments/"),
    ("tests/data/", "tests/inference/test_on_ray.py"),
    ("tests/report/test_page", "tests/study/", "tests/test_wheel.py", "tests/test_tasks.py"),
)
SHORT = ("tests/test_architecture.py", "src/")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Put tests in an order whose equal parts, one a worker, begin as they should."""
    n_workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if n_workers > 1:
        items[:] = in_order(items, n_workers)


def in_order(items, n_workers):
    """Return the tests of each worker: its beginning, its share of the rest, and short ones."""
    kinds = {}
    for item in items:
        kinds.setdefault(kind_of(item.nodeid), []).append(item)
    rest, short = kinds.pop("rest", []), kinds.pop("short", [])
    found = []
    for worker in range(n_workers):
        left = n_workers - worker
        begun = [
            item
            for key in sorted(key for key in kinds if key[0] == worker)
            for item in kinds.pop(key)
        ]
        size = (len(items) - len(found)) // left  # as `xdist` cuts them
        n_rest = min(len(rest) // left, max(size - len(begun), 0))
        n_short = max(size - len(begun) - n_rest, 0)
        found += begun + rest[:n_rest] + short[:n_short]
        rest, short = rest[n_rest:], short[n_short:]
    return found + rest + short + [item for kind in kinds.values() for item in kind]


def kind_of(name):
    """Return the worker that begins with a test and its place there, "rest" or "short"."""
    places = [
        (len(prefix), worker, k)
        for worker, beginning in enumerate(BEGINNINGS)
        for k, prefix in enumerate(beginning)
        if name.startswith(prefix)
    ]
    if places:
        return max(places)[1:]
    return "short" if name.startswith(SHORT) else "rest"


ANSWERS = {}


@pytest.fixture
def each_fit_once(monkeypatch):
    """Let pages and examples that fit the same table in the same way share the answer."""
    fit = intransit.fit

    @wraps(fit)
    def remembered(*arguments, **settings):
        try:
            key = pickle.dumps((arguments, sorted(settings.items())))
        except (pickle.PicklingError, TypeError, AttributeError):
            return fit(*arguments, **settings)
        if key not in ANSWERS:
            ANSWERS[key] = fit(*arguments, **settings)
        return ANSWERS[key]

    monkeypatch.setattr(intransit, "fit", remembered)
