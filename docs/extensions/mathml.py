"""Formulas as MathML: browsers set it themselves, so that pages load no script and no font.

The converter is the one of docutils.  A formula that it does not know fails the build, with the
place where it stands.
"""

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

JOINER = "&#8288;"  # no line begins with the comma after a formula

logger = logging.getLogger(__name__)


def to_mathml(formula: nodes.Element, *, as_block: bool) -> str:
    """Return the MathML of a formula; say where it stands if it cannot be read."""
    try:
        return latex2mathml.tex2mathml(formula.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("formula %r: %s", formula.astext(), error, location=formula)
        return f"<code>{formula.astext()}</code>"


def visit_inline(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula in a sentence."""
    translator.body.append(to_mathml(node, as_block=False) + JOINER)
    raise nodes.SkipNode


def visit_display(translator: HTML5Translator, node: nodes.Element) -> None:
    """Write a formula in lines of its own, which may be scrolled where a window is narrow."""
    translator.body.append(f'<div class="formula">{to_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
