# SPDX-License-Identifier: BSD-3-Clause
"""Words of files as features, the same way for every later file."""

import numpy as np
import pytest

from skstruct.exceptions import DataFormatError
from skstruct.tasks import TokenEncoder


def test_words_become_names_of_features():
    sentences = [[("The", "DT"), ("dog", "NN")], [("Go", "VB")]]
    first, second = TokenEncoder(window=1).fit(sentences).transform(sentences)
    assert len(first) == 2
    assert len(second) == 1
    assert "0.0=dog" in first[1]
    assert "-1.0=The" in first[1]
    assert "1.0=^" in first[1]
    assert "pair.1=DT|NN" in first[1]
    assert "shape=Aa" in first[0]
    with pytest.raises(DataFormatError, match="sequence 1 has 1 columns; the model reads 2"):
        TokenEncoder().fit(sentences).transform([[("dog",)]])
    numbers = [np.zeros((3, 2))]
    assert TokenEncoder().fit(numbers).transform(numbers)[0] is numbers[0]
