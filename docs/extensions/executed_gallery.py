# SPDX-License-Identifier: BSD-3-Clause
"""Makes the gallery before pages are read; an example that fails stops the build."""

import sys
from pathlib import Path

from sphinx.errors import ExtensionError

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import gallery


def make_gallery(app):
    try:
        gallery.build(Path(app.srcdir) / "gallery")
    except (RuntimeError, ValueError) as error:
        raise ExtensionError(f"The gallery cannot be made: {error}") from error


def setup(app):
    app.connect("builder-inited", make_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
