# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx settings: Markdown pages by MyST, docstrings by numpydoc, formulas as MathML."""

import sys
from pathlib import Path

from skstruct import __version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "skstruct"
author = "The skstruct developers"
project_copyright = "The skstruct developers, BSD-3-Clause"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "offline_math",
    "executed_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
toc_object_entries = False  # methods would flood the side bar
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # shapes and meanings are in the docstrings
numpydoc_show_class_members = False  # the class template lists them

html_theme = "alabaster"
html_math_renderer = "mathml"
html_copy_source = False
html_title = "skstruct"
html_static_path = ["_static"]
html_css_files = ["skstruct.css"]
html_show_sphinx = False
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_theme_options = {
    "description": "Structured prediction with scikit-learn's manners",
    "fixed_sidebar": True,
    "page_width": "1100px",
    "sidebar_width": "230px",
    "font_family": "system-ui, sans-serif",
    "head_font_family": "system-ui, sans-serif",
    "font_size": "16px",
}


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what classes inherit from scikit-learn and Python: it is documented there."""
    module = getattr(obj, "__module__", None) or ""
    return True if module.split(".")[0] in ("sklearn", "builtins") else None


def setup(app):
    app.connect("autodoc-skip-member", skip_foreign)
