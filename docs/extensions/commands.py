"""The directive `{help} COMMAND`: what `intransit COMMAND --help` prints, word for word."""

import contextlib
import io
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive
from rich.console import Console
from sphinx.application import Sphinx

from intransit.cli import app as commands

COLUMNS = 76


class Help(Directive):
    """Show the help of one command, or of all of them without an argument."""

    required_arguments = 0
    optional_arguments = 1
    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """Return the help as a block of plain text."""
        text = help_of(*self.arguments)
        return [nodes.literal_block(text, text, language="text", classes=["help"])]


def help_of(*command: str) -> str:
    """Return the help of a command, in a fixed width."""
    said = io.StringIO()
    console = Console(file=said, width=COLUMNS, color_system=None, force_terminal=False)
    with contextlib.redirect_stdout(said):
        commands.help_print([*command], console=console)
    return "\n".join(line.rstrip() for line in said.getvalue().splitlines()).strip("\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("help", Help)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
