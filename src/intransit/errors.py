"""Every exception and warning the package raises.

A message says where, what was found, and what to do, in one sentence or two.
"""


class IntransitError(Exception):
    """Base of every error this package raises on purpose.

    Examples
    --------
    >>> import intransit as it
    >>> issubclass(it.InputError, it.IntransitError)
    True
    """


class InputError(IntransitError, ValueError):
    """What was given cannot be used; the message says where, what, and what to do.

    Attributes
    ----------
    source
        The file that it is about, where it is known.
    line
        The line of that file, where it is known.

    Examples
    --------
    >>> import intransit as it
    >>> it.Scores(scale=-1.0)
    Traceback (most recent call last):
        ...
    intransit.errors.InputError: Scores: scale is -1.0; it must be a finite number, above 0.
    """

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.source = source
        self.line = line


class MissingDependencyError(IntransitError, ImportError):
    """An optional library is needed for this and is not installed.

    Examples
    --------
    >>> import intransit as it
    >>> issubclass(it.MissingDependencyError, ImportError)
    True
    """


class IntransitWarning(UserWarning):
    """Base of every warning this package gives.

    Examples
    --------
    >>> import intransit as it
    >>> issubclass(it.ConvergenceWarning, it.IntransitWarning)
    True
    """


class ConvergenceWarning(IntransitWarning):
    """A solver stopped before it reached its tolerance; says where, and what to change.

    Examples
    --------
    Make it an error, so that an answer that has not converged is never used by oversight:

    >>> import warnings
    >>> import intransit as it
    >>> games = it.Timeline.from_arrays([0, 1, 2], [1, 2, 0], [1.0, 1.0, 0.5])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", it.ConvergenceWarning)
    ...     path = it.smooth(games, noise_scale=0.5, drift_scale=0.0, prior_scale=1.0, rng=0)
    >>> path.converged
    True
    """
