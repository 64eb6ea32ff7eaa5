# SPDX-License-Identifier: BSD-3-Clause
"""Label sets as a table of texts: paths with a column per level, empty below their end."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct import ConditionalRiskMinimizer
from skstruct.spaces import Hierarchy, LabelSets

PATHS = [["animal", "cat"], ["animal", ""], ["animal", "dog"], ["plant", ""]]


@pytest.mark.parametrize("kind", [str, object])
def test_empty_cells_are_no_labels(kind):
    space = Hierarchy([("animal", "cat"), ("animal", "dog"), ("plant", "tree")])
    table = np.array(PATHS, dtype=kind)
    rows = [[name for name in row if name] for row in PATHS]
    assert_array_equal(space.validate(table), space.validate(rows))
    assert LabelSets().fit(table).labels_ == ("animal", "cat", "dog", "plant")


def test_they_come_back_as_rows_of_names():
    space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    table = np.array([["animal", "cat"], ["animal", "dog"]] * 4)
    model = ConditionalRiskMinimizer(space, alpha=0.01).fit(np.arange(8)[:, None] % 2, table)
    assert model.predict([[0], [1]]).tolist() == [["animal", "cat"], ["animal", "dog"]]


def test_numbers_are_indicators_still():
    with pytest.raises(ValueError, match="one column per label"):
        Hierarchy([("a", "b")]).validate(np.array([[1, 0, 1]]))
    with pytest.raises(ValueError, match="0 or 1"):
        LabelSets().fit(np.array([["a", 1]], dtype=object))
