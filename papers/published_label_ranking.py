# SPDX-License-Identifier: BSD-3-Clause
"""Published values of Kendall's tau on the label ranking sets, complete rankings.

Cheng, Hühn and Hüllermeier, "Decision tree and instance-based learning for label ranking",
ICML 2009: constraint classification, instance-based learning and label ranking trees. The
figures were written down without the paper at hand and await checking against its table;
it has none for the five yeast sets that could be given here. Figures of ranking by pairwise
comparison come from other papers, with other folds, and are left out for the same reason:
our own run of it stands in the first table.
"""

_COLUMNS = ("published CC", "published IBLR", "published LRT")
_TABLE = {
    "authorship": (0.920, 0.936, 0.882),
    "bodyfat": (0.281, 0.248, 0.117),
    "calhousing": (0.250, 0.351, 0.324),
    "cpu": (0.475, 0.506, 0.447),
    "elevators": (0.768, 0.733, 0.760),
    "fried": (0.999, 0.935, 0.890),
    "glass": (0.846, 0.865, 0.883),
    "housing": (0.660, 0.745, 0.797),
    "iris": (0.836, 0.966, 0.947),
    "pendigits": (0.903, 0.944, 0.935),
    "segment": (0.914, 0.959, 0.949),
    "stock": (0.737, 0.927, 0.895),
    "vehicle": (0.855, 0.862, 0.827),
    "vowel": (0.623, 0.900, 0.794),
    "wine": (0.933, 0.949, 0.882),
    "wisconsin": (0.629, 0.506, 0.343),
}
PUBLISHED = {
    column: {name: figures[k] for name, figures in _TABLE.items()}
    for k, column in enumerate(_COLUMNS)
}
