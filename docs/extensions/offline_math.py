# SPDX-License-Identifier: BSD-3-Clause
"""Formulas as MathML, by the converter of docutils: pages need no network to be read."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml

# What the converter does not know, in words that it knows.
SUBSTITUTES = (
    (r"\\dots\b", r"\\ldots"),
    (r"\\(bigg?|Bigg?)(?=\W)", r"\\\1l"),
    (r"\\textstyle\b", ""),
    (r"\\([td]?frac)(\d)(\d)", r"\\\1{\2}{\3}"),  # digits are arguments one by one, in TeX
    (r"([_^])(\d)(?=\d)", r"\1{\2}"),
)


def as_mathml(latex, block=False):
    """MathML of a formula; a formula that cannot be read is an error that shows it."""
    for pattern, replacement in SUBSTITUTES:
        latex = re.sub(pattern, replacement, latex)
    try:
        return tex2mathml(latex, as_block=block)
    except MathError as error:
        raise ValueError(f"{latex!r} cannot be shown: {error}") from error


def visit_inline(self, node):
    self.body.append(as_mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(self, node):
    self.body.append(f'<div class="math">{as_mathml(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
