"""Tests over interpreters and over dependencies, lowest and newest.

    nox -l                  the sessions
    nox                     all of them; interpreters that are missing are passed over
    nox -s tests-3.12       one interpreter, the newest dependencies
    nox -s lowest           the lowest versions that pyproject.toml allows
    nox -s wheel            the wheel, in an empty environment

Words after `--` go to pytest: nox -s lowest -- tests/data
"""

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
# What the lowest versions are tried on: every dependency at work, in about a minute.
SMOKE = [
    "tests/inference",
    "tests/data/test_recognition.py",
    "tests/data/test_sources.py",
    "tests/test_fit.py",
    "tests/analysis/test_saving.py",
    "tests/cli/test_read_fit_update.py",
    "tests/cli/test_commands.py",
    "tests/inference/test_recover.py",
]
BESIDE = [  # as in the extra `dev`, of which the rest is not needed here
    "hypothesis>=6.100",
    "pandas>=2.2",
    "polars>=1.20",
    "pyarrow>=18",
    "pytest>=8.2",
    "pytest-xdist>=3.6",
]

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["tests", "lowest", "wheel"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests with the newest versions of all dependencies."""
    session.install("--upgrade", ".[dev]")
    run_tests(session, session.posargs or ["tests", "src"])


@nox.session(python=PYTHONS[0], venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """Run a part of the tests with the lowest versions that are allowed (needs uv)."""
    session.install("--resolution", "lowest-direct", ".[figures,sklearn]", *BESIDE)
    run_tests(session, session.posargs or SMOKE)


@nox.session(python=PYTHONS)
def wheel(session: nox.Session) -> None:
    """Install the package as users do, without extras, and ask it something."""
    session.install(".")
    session.run("intransit", "--version")
    session.run(
        "intransit", "simulate", "--out", f"{session.create_tmp()}/games.csv", "--games", "500"
    )


def run_tests(session: nox.Session, arguments: list[str]) -> None:
    """Run pytest on one thread a process."""
    settings = {"OPENBLAS_NUM_THREADS": "1"}
    session.run("python", "-m", "pytest", "-n", "auto", *arguments, env=settings)
