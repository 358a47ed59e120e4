"""The command line: one module a command."""

from intransit.cli.commands import COMMANDS, app, arguments, main, run

__all__ = ["COMMANDS", "app", "arguments", "main", "run"]
