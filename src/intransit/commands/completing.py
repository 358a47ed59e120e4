"""Completion of commands and options in a shell: the script shown, or put in its place."""

import sys
from pathlib import Path
from typing import Literal

from cyclopts.completion.detect import ShellDetectionError, detect_shell

from intransit.commands.output import Output
from intransit.errors import InputError

Shell = Literal["bash", "zsh", "fish", "powershell"]


def show_completion(shell: Shell | None = None, /) -> None:
    """Print the completion script of a shell, and change nothing.

    Parameters
    ----------
    shell
        Which shell; by default the one that is running.
    """
    from intransit.cli import app  # noqa: PLC0415  it holds the commands that are completed

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
    from intransit.cli import app  # noqa: PLC0415

    shell = shell or _detect()
    # Where the place is the user's own choice, loading the script is left to them too.
    place = app.install_completion(shell=shell, output=out, add_to_startup=out is None)
    Output().say(f"The completion script for {shell} is {place}. Start a new shell to use it.")


def _detect() -> Shell:
    try:
        return detect_shell()
    except ShellDetectionError:
        raise InputError(
            "completion: the shell cannot be told; say bash, zsh, fish or powershell."
        ) from None
