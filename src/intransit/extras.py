"""What only some parts need, loaded when it is asked for: other libraries, and layers above."""

import importlib
import importlib.util
from types import ModuleType

from intransit.errors import MissingDependencyError


def require_matplotlib() -> None:
    """Say how to get matplotlib if it is not there."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingDependencyError(
            "figures need matplotlib, which is not installed: pip install 'intransit[figures]'."
        )


def drawing(name: str) -> ModuleType:
    """Return a module that draws, loaded when a picture is asked for."""
    require_matplotlib()
    return importlib.import_module(f"intransit.render.{name}")


def above(name: str) -> ModuleType:
    """Return a module of a layer above, loaded when it is asked for."""
    return importlib.import_module(f"intransit.{name}")
