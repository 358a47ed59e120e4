"""The command line: which commands there are, what they are for, and how they end."""

import atexit
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NoReturn

from cyclopts import App, Group
from cyclopts.completion.detect import ShellDetectionError, detect_shell

import intransit
from intransit.errors import InputError, IntransitError, IntransitWarning

Shell = Literal["bash", "zsh", "fish", "powershell"]


def show_completion(shell: Shell | None = None, /) -> None:
    """Print the completion script of a shell, and change nothing.

    Parameters
    ----------
    shell
        Which shell; by default the one that is running.
    """
    sys.stdout.write(app.generate_completion(shell=shell or _detect()))


def install_completion(shell: Shell | None = None, /, *, out: Path | None = None) -> None:
    """Put the completion script where the shell finds it.

    Parameters
    ----------
    shell
        Which shell; by default the one that is running.
    out
        Write the script to this file alone; without it a line that loads the script is added to
        the shell's startup file too.
    """
    shell = shell or _detect()
    # Where the place is the user's own choice, loading the script is left to them too.
    place = app.install_completion(shell=shell, output=out, add_to_startup=out is None)
    from intransit.cli.output import Output  # noqa: PLC0415  commands load when they are asked for

    Output().say(f"The completion script for {shell} is {place}. Start a new shell to use it.")


def _detect() -> Shell:
    try:
        return detect_shell()
    except ShellDetectionError:
        raise InputError(
            "completion: the shell cannot be told; say bash, zsh, fish or powershell."
        ) from None


TABLES = Group("From a table to predictions", sort_key=1)
TRIAL = Group("To try it on a known truth", sort_key=2)
PAPER = Group("The paper", sort_key=3)
OTHER = Group("Other", sort_key=4)
WRITTEN = {"--out", "-o", "--figure", "--truth"}  # options that name a file to write

app = App(
    name="intransit",
    help="Who beats whom, by how much, how it changes, and where the cycles are.",
    version=intransit.__version__,
    help_format="plaintext",
    help_prologue="Begin with:\n  intransit report battles.csv --out battles.html",
    help_epilogue="`intransit COMMAND --help` begins with examples.",
    suppress_keyboard_interrupt=False,
)
for flag in ("--help", "--version"):
    app[flag].group = OTHER

# Name: group, address, what it does, examples.  By address: a command loads when it is asked for.
COMMANDS = {
    "read": (
        TABLES,
        "inputs:read",
        "Show how a table is understood, before anything is fitted.",
        ("read battles.csv", "read games.csv.gz --where format=Modern --time played_on"),
    ),
    "fit": (
        TABLES,
        "fit:fit",
        "Estimate from a table who beats whom, and save the answer to a file.",
        (
            "fit battles.csv",
            "fit games.csv.gz --where format=Modern --out modern.intransit",
            "fit games.csv --each format",
        ),
    ),
    "report": (
        TABLES,
        "fit:report",
        "Say whether there are cycles, and write the findings as one HTML page.",
        (
            "report battles.csv --out battles.html",
            "report battles.intransit --out battles.html --json",
            "report games.csv --each format",
        ),
    ),
    "predict": (
        TABLES,
        "ask:predict",
        "Give the probability that one item beats another, with an interval.",
        (
            'predict battles.intransit "A" "B" --at 2026-05-01',
            "predict battles.intransit --pairs fixtures.csv --csv",
        ),
    ),
    "rank": (
        TABLES,
        "ask:rank",
        "Rank items by their mean probability of beating the others.",
        ("rank battles.intransit --top 20", "rank battles.intransit --at 2025-01-01 --csv"),
    ),
    "matrix": (
        TABLES,
        "ask:matrix",
        "Show the probability that each row beats each column.",
        (
            "matrix battles.intransit --top 8",
            'matrix battles.intransit --items "A,B,C" --what margin',
        ),
    ),
    "update": (
        TABLES,
        "fit:update",
        "Add new games to a saved answer.",
        ("update battles.intransit new.csv", "update old.intransit new.csv --out new.intransit"),
    ),
    "backtest": (
        TABLES,
        "backtest:backtest",
        "Measure how well models, from simple to rich, predict the latest games.",
        ("backtest battles.csv --quick", "backtest battles.csv --every 7 --figure ladder.png"),
    ),
    "simulate": (
        TRIAL,
        "simulate:simulate",
        "Write a table of simulated games.",
        (
            "simulate --out games.csv",
            "simulate --out games.csv --truth truth.csv --items 50 --cyclic 0.8",
        ),
    ),
    "demo": (
        TRIAL,
        "demo:demo",
        "Recover the Pokémon type chart from a part of it, and report on a simulated metagame.",
        ("demo --out demo",),
    ),
    "reproduce": (
        PAPER,
        "reproduce:reproduce",
        "Run the experiments of the paper; without a name, list them.",
        ("reproduce", "reproduce all --quick"),
    ),
    "--install-completion": (
        OTHER,
        ":install_completion",
        "Complete commands and options in the shell.",
        ("--install-completion", "--install-completion zsh"),
    ),
    "--show-completion": (
        OTHER,
        ":show_completion",
        "Print the script that does so, and change nothing.",
        ("--show-completion bash",),
    ),
}


USAGE = {"predict": "MODEL [FIRST SECOND]", "reproduce": "[NAMES...]"}  # where Cyclopts says ARGS

for place, (name, (group, address, words, examples)) in enumerate(COMMANDS.items()):
    lines = "".join(f"\n  intransit {example}" for example in examples)
    app.command(
        f"intransit.cli.{address}".replace(".:", ":"),
        name=name,
        help=words,
        help_prologue=f"Example{'' if len(examples) == 1 else 's'}:{lines}",
        help_epilogue="",
        usage=f"Usage: intransit {name} [OPTIONS] {USAGE[name]}" if name in USAGE else None,
        group=group,
        sort_key=place,
    )


def run() -> NoReturn:
    """Run the command line as a program of its own, and end it without delay.

    Python would first take every module apart, which takes as long as reading a small table.
    """
    code: object = 0
    try:
        main()
    except SystemExit as stop:
        code = stop.code
    if isinstance(code, str):
        _say(code)
    atexit._run_exitfuncs()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def main() -> None:
    """Run the command line; an error of ours becomes one sentence and exit code 2."""
    for library in ("OPENBLAS", "MKL"):  # read when NumPy loads: small systems lose by more threads
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    try:
        with _remarks():
            try:
                app(arguments(sys.argv[1:]))
            finally:
                sys.stdout.flush()
    except IntransitError as error:
        _say(str(error))
        sys.exit(2)
    except BrokenPipeError:  # whoever read our output has seen enough
        _let_go()
        sys.exit(1)
    except OSError as error:
        _let_go()
        where = f"{error.filename}: " if error.filename else ""
        _say(f"{where}{error.strerror or error}. Choose another place, or make room.")
        sys.exit(1)
    except KeyboardInterrupt:
        _say("interrupted.")
        from intransit.data.engine import is_busy  # noqa: PLC0415

        if is_busy():  # a library still at work would hold up Python's own end
            sys.stdout.flush()
            os._exit(130)
        sys.exit(130)


def arguments(words: Sequence[str]) -> list[str]:
    """Return the words of a command with `-`, which stands for the standard input, as its path."""
    before = ["", *words]
    return [
        "/dev/stdin" if word == "-" and last not in WRITTEN else word
        for last, word in zip(before, words, strict=False)
    ]


def _let_go() -> None:
    """Send what could not be written nowhere, or Python would try it again at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _remarks() -> Iterator[None]:
    """Print warnings of ours as sentences, without the line of code that gave them."""
    usual = warnings.showwarning

    def show(message, category, *rest, **named) -> None:  # type: ignore[no-untyped-def]
        if issubclass(category, IntransitWarning):
            _say(str(message))
        else:
            usual(message, category, *rest, **named)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _say(sentence: str) -> None:
    from intransit.cli.output import open_console  # noqa: PLC0415

    open_console(stderr=True).print(f"intransit: {sentence}", soft_wrap=True)
