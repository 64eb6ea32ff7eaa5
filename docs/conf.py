# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx settings: Markdown pages by MyST, docstrings by numpydoc, formulas as MathML.

Pages load nothing from elsewhere: no fonts, no scripts, no list of versions.
"""

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
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "offline_math",
    "results_tables",
    "default_and_peers",
    "api_pages",
]
exclude_patterns = ["_build", "gallery/GALLERY_HEADER.rst", "results/*.txt"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = False  # by docs/extensions/api_pages.py
toc_object_entries = False  # methods would flood the side bar
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # shapes and meanings are in the docstrings
numpydoc_show_class_members = False  # the class template lists them

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\w+\.py$",  # all of them are run
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "thumbnail_size": (480, 300),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_title = "skstruct"
html_static_path = ["_static"]
html_css_files = ["skstruct.css"]
html_show_sphinx = False
# Pages of names have no side bar: there are hundreds, and each would list all the others.
html_sidebars = {"index": [], "api": [], "generated/**": [], "gallery/**": ["sidebar-nav-bs"]}
html_theme_options = {
    "logo": {"text": "skstruct"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navigation_depth": 2,
    "show_nav_level": 2,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}


def skip_foreign(app, what, name, obj, skip, options):
    """Leave out what classes inherit from elsewhere: it is documented there."""
    module = getattr(obj, "__module__", None) or ""
    return True if module.split(".")[0] in ("sklearn", "builtins", "torch") else None


def setup(app):
    app.connect("autodoc-skip-member", skip_foreign)
