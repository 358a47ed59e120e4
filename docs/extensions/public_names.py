"""Signatures as people know them: types link to public names, and arrays have short ones.

`fit` returns an `Answer` that some module defines; people know it as `intransit.Answer`, and that
is the page it has.  A type that is not ours, or has no page, stays plain text; a reference that
somebody wrote into a docstring and that leads nowhere fails the build.

The directive `{results} intransit.Answer` documents the classes that methods of a class return and
that have no public name of their own, wherever they are defined.
"""

import importlib
import inspect
import re
import typing
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

PACKAGES = (
    "intransit",
    "intransit.datasets",
    "intransit.study",
    "intransit.theory",
    "intransit.backtest",
    "intransit.estimator",
    "intransit.experiments",
)
ARRAY = re.compile(
    r"~?(?:numpy\.)?ndarray\[tuple\[~?(?:typing\.)?Any, \.\.\.\], "
    r"~?(?:numpy\.)?dtype\[~?(?:numpy\.)?(\w+?)\]\]"
)
KINDS = {"float64": "FloatArray", "int64": "IntArray", "bool": "BoolArray"}


def public_names() -> dict[str, str]:
    """Return, for every place where something public is defined, its public name."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if hasattr(thing, "__qualname__"):
                found[f"{thing.__module__}.{thing.__qualname__}"] = f"{package}.{name}"
    return found


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contents: nodes.Element
) -> nodes.Node | None:
    """Return a link to the public name, or the plain text of a type that has no page."""
    if node.get("refdomain") != "py":
        return None
    domain, target = env.get_domain("py"), node["reftarget"]
    public = app.config.public_names.get(target)
    if public in domain.objects:
        return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", public, node, contents)
    in_a_signature = node["reftype"] in {"class", "obj"} and not node.get("refexplicit")
    return contents if in_a_signature else None


def shorten(*event: Any) -> tuple[str | None, str | None]:
    """Return the signature with arrays by the names that the code gives them."""

    def short(text: str | None) -> str | None:
        return text and ARRAY.sub(lambda found: KINDS.get(found[1], found[0]), text)

    signature, returned = event[-2:]
    return short(signature), short(returned)


def classes_in(annotation: object) -> Iterator[type]:
    """Return the classes of ours in an annotation, however deep."""
    if inspect.isclass(annotation) and annotation.__module__.startswith("intransit."):
        yield annotation
    for part in typing.get_args(annotation):
        yield from classes_in(part)


def returned_by(owner: type) -> list[str]:
    """Return where the classes are defined that methods of a class return, public ones left out."""
    public, found = public_names(), []
    for name, method in inspect.getmembers(owner, inspect.isfunction):
        if name.startswith("_"):
            continue
        for result in classes_in(inspect.signature(method).return_annotation):
            place = f"{result.__module__}.{result.__qualname__}"
            if place not in public and place not in found:
                found.append(place)
    return found


class Results(SphinxDirective):
    """Document the classes that methods of a class return."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a description of each."""
        package, _, name = self.arguments[0].rpartition(".")
        places = returned_by(getattr(importlib.import_module(package), name))
        described = [
            line for place in places for line in (f".. autoclass:: {place}", "   :members:", "")
        ]
        lines = ["```{eval-rst}", *described, "```"]  # pages are Markdown
        parent = nodes.section()
        parent.document = self.state.document
        self.state.nested_parse(StringList(lines, self.arguments[0]), 0, parent)
        return parent.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Look public names up once, and resolve by them."""
    app.add_config_value("public_names", public_names(), "")
    app.add_directive("results", Results)
    app.connect("missing-reference", resolve)
    app.connect("autodoc-process-signature", shorten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
