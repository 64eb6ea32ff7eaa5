# SPDX-License-Identifier: BSD-3-Clause
"""Marginals over directed cycles are probabilities of arcs, whatever they are scored by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax

from skstruct import ExponentialFamily
from skstruct.learners import CountingRidge, StructuredSVM
from skstruct.spaces import Cycles, Embeddings

SPACE = Cycles(list("abcd")).fit([["a", "b", "c"]])  # signed pairs


def data():
    rng = np.random.default_rng(0)
    outputs = SPACE.enumerate()
    chosen = rng.integers(len(outputs), size=20)
    tours = SPACE.restore(outputs)
    return rng.standard_normal((20, 2)), [tours[i] for i in chosen], outputs


def arc_probabilities(model, X, outputs, temperature=1.0):
    """By the list of all cycles: an output in canonical form is 0/1 over the arcs."""
    scores = model.decision_function(X) @ SPACE.embed(outputs).T
    return softmax(scores / temperature, axis=1) @ outputs


@pytest.mark.parametrize("limits", [None, {"include": ["b"]}, {"include_edges": [("a", "c")]}])
def test_an_exponential_family_tells_of_arcs(limits):
    X, tours, outputs = data()
    model = ExponentialFamily(SPACE, alpha=1e-3, max_iter=3).fit(X, tours)
    told = model.predict_marginals(X, restrict=limits)
    inside = outputs if limits is None else outputs[SPACE.restrict(**limits).contains(outputs)]
    assert_allclose(told, arc_probabilities(model, X, inside), atol=1e-9)
    assert (told >= 0).all()
    assert model.predict_marginals(X, raw=True).shape == (20, 6)  # means of psi
    columns = model.set_output(transform="pandas").predict_marginals(X).columns
    assert_array_equal(list(columns), list(Embeddings.of(SPACE).view("indicators").labels_))


def test_calibrated_scores_tell_of_arcs():
    X, tours, outputs = data()
    model = StructuredSVM(SPACE, alpha=0.1, max_iter=5, random_state=0).fit(X, tours)
    told = model.calibrate(X, tours).predict_marginals(X)
    expected = arc_probabilities(model, X, outputs, model.temperature_)
    assert_allclose(told, expected, atol=1e-9)


def test_means_that_are_no_probabilities_are_not_called_so():
    X, tours, _ = data()
    model = CountingRidge(SPACE, alpha=0.1).fit(X, tours)
    with pytest.raises(ValueError, match=r"signed pairs.*no probabilities"):
        model.predict_marginals(X)
