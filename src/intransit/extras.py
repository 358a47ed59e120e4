"""Libraries that only some parts need: asked for before the work, not after it."""

import importlib.util

from intransit.errors import MissingDependencyError


def require_matplotlib() -> None:
    """Say how to get matplotlib if it is not there."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError(
            "figures need matplotlib, which is not installed: pip install 'intransit[figures]'."
        )
