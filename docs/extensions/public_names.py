"""Types in signatures link to public names, wherever in the package they are defined.

`fit` returns an `intransit.answers.answer.Answer`; people know it as `intransit.Answer`, and that is
the page it has.  What is neither public nor ours, or has no page, stays plain text; a reference that
somebody wrote into a docstring by hand and that leads nowhere still fails the build.
"""

import importlib

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

PACKAGES = (
    "intransit",
    "intransit.datasets",
    "intransit.study",
    "intransit.theory",
    "intransit.backtest",
    "intransit.experiments",
)


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
    """Return a link to the public name, or the plain text of a type in a signature."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    public = app.config.public_names.get(target) or by_last_part(app, target)
    if public:
        domain = env.get_domain("py")
        place = domain.objects.get(public)
        if place:
            return domain.resolve_xref(
                env, node["refdoc"], app.builder, "obj", public, node, contents
            )
    written_by_hand = node.get("refexplicit") or "py:class" not in node and node["reftype"] != "class"
    return None if written_by_hand else contents


def by_last_part(app: Sphinx, target: str) -> str | None:
    """Return the only public name that ends as this one does, as `Games` does in a signature."""
    if "." in target:
        return None
    ending = [name for name in app.config.public_names.values() if name.endswith(f".{target}")]
    return ending[0] if len(ending) == 1 else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Look public names up once, and resolve by them."""
    app.add_config_value("public_names", public_names(), "")
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
