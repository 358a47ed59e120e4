"""The documentation site: `make docs` builds it into build/site.

The source folder of Sphinx is the repository itself, so that a link from a page to CHANGELOG.md, to
a benchmark's result or to an example is one relative path, right on the site and in a checkout.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "docs")]

import intransit  # noqa: E402 - the path above is where it is

project = "intransit"
author = "the intransit developers"
project_copyright = author
version = release = intransit.__version__

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "benchmarks/README.md",
    "benchmarks/results/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
]
exclude_patterns = ["docs/templates/**"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "extensions.commands",
    "extensions.mathml",
    "extensions.public_names",
]

# Pages: anchors as GitHub makes them, so that one link serves both.
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_update_mathjax = False
html_math_renderer = "mathml"

# Docstrings: types stand in the signature, meanings in the text.
autosummary_generate = True
autosummary_imported_members = True
autodoc_default_options = {"member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"FloatArray": "FloatArray", "IntArray": "IntArray"}
python_use_unqualified_type_names = True
add_module_names = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "code"
maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = "intransit"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["static/root"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "use_edit_page_button": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"docs/index": [], "docs/tutorial": [], "docs/gallery": []}
templates_path = [str(ROOT / "docs" / "templates")]  # of the pages and of autosummary alike
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

nitpicky = True
suppress_warnings = ["config.cache"]  # functions in the configuration: nothing is wrong with them

linkcheck_timeout = 20
linkcheck_retries = 2
