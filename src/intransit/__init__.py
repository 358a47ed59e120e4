"""Who beats whom, by how much, how it changes, and where the cycles are."""

import ast
import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

# Public names load the module they live in when they are first used, so that ``import intransit``
# takes no longer than what is used of it.  The stub beside this file says where each lives.
with open(f"{__file__}i", encoding="utf-8") as _stub:
    _HOMES = {
        one.name: (node.module, one.asname)
        for node in ast.parse(_stub.read()).body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
__all__ = [name for name, (_, public) in sorted(_HOMES.items()) if public]


class _LazyPackage(ModuleType):
    """A package whose names are looked up in their modules on first use, and kept."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home = _HOMES[name][0]
        is_module = home == self.__name__
        value = import_module(f"{home}.{name}") if is_module else getattr(import_module(home), name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # Loading a module must not put it where a function of its name is looked for.
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> Iterable[str]:
        return sorted({*self.__dict__, *_HOMES})


sys.modules[__name__].__class__ = _LazyPackage
