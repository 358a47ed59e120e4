"""Public names that load the module they live in when they are first used.

``import intransit`` then takes no longer than what is used of it.
"""

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package whose names are looked up in their modules on first use, and kept."""

    lazy_names: Mapping[str, str]  # public name to the module it lives in

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__.get("lazy_names", {}).get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module = import_module(home)
        found = module if home == f"{self.__name__}.{name}" and name in MODULES else None
        value = getattr(module, name) if found is None else found
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # Loading a module must not put it where a function of its name is looked for.
        if name in self.__dict__.get("lazy_names", {}) and isinstance(value, ModuleType):
            return
        super().__setattr__(name, value)

    def __dir__(self) -> Iterable[str]:
        return sorted({*self.__dict__, *self.__dict__.get("lazy_names", {})})


MODULES = {"backtest", "data", "datasets", "study", "theory"}  # names that are modules


def load_when_used(package: str, homes: Mapping[str, str]) -> None:
    """Let a package load the modules of its names (listed by module) when they are used."""
    module = sys.modules[package]
    names = {name: home for home, listed in homes.items() for name in listed.split()}
    names |= {name: f"{package}.{name}" for name in MODULES}
    module.__class__ = LazyPackage
    module.__dict__["lazy_names"] = names
