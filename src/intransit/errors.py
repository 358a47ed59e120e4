"""Every exception and warning the package raises.

A message says where, what was found, and what to do, in one sentence or two.
"""


class IntransitError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(IntransitError, ValueError):
    """What was given cannot be used; the message says where, what, and what to do."""

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.source = source
        self.line = line


class MissingDependencyError(IntransitError, ImportError):
    """An optional library is needed for this and is not installed."""


class IntransitWarning(UserWarning):
    """Base of every warning this package gives."""


class ConvergenceWarning(IntransitWarning):
    """A solver stopped before it reached its tolerance; says where, and what to change."""
