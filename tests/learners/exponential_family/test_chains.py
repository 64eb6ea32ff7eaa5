# SPDX-License-Identifier: BSD-3-Clause
"""Conditional random fields against the list of all sequences, and against crfsuite."""

import tempfile
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from skstruct import ExponentialFamily
from skstruct.learners.exponential_family.chain_likelihood import ChainModel
from skstruct.losses import SequenceHamming
from skstruct.spaces import LabelSets, Sequences
from skstruct.testing.spaces import assert_drawn_from


def sentences(n=40, q=3, p=4, longest=5, seed=0, shortest=1):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(shortest, longest + 1), p)) for _ in range(n)]
    names = np.array(list("abcdef")[:q])
    Y = []
    for x in X:
        scores = x[:, :q] + 0.7 * np.roll(x[:, :q], 1, axis=0) + 0.5 * rng.normal(size=(len(x), q))
        Y.append(names[scores.argmax(axis=1)].tolist())
    return X, Y


def listed(model, x):
    """All sequences as long as one input, and the logarithms of their probabilities."""
    q = len(model.space_.symbols_)
    Z = np.array(list(product(range(q), repeat=len(x))))
    unary = x @ model.coef_.T + model.intercept_
    f = unary[np.arange(len(x)), Z].sum(axis=1)
    f += model.transition_coef_[Z[:, :-1], Z[:, 1:]].sum(axis=1)
    return Z, f - logsumexp(f), logsumexp(f)


@pytest.fixture(scope="module")
def model():
    return ExponentialFamily(Sequences(), alpha=0.005, fit_intercept=True).fit(*sentences())


def test_objective_and_gradient_are_those_of_the_definition():
    X, Y = sentences(5)
    space = Sequences().fit(Y)
    starts = np.concatenate([[0], np.cumsum([len(x) for x in X])])
    tokens, share = np.vstack(X), np.array([0.1, 0.3, 0.2, 0.2, 0.2])
    chain = ChainModel(space, tokens, starts, space.validate(Y), share, 0.1)
    theta = np.random.default_rng(0).normal(size=chain.size)

    def objective(theta):
        W, transitions = chain.parts(theta)
        total = 0.1 * theta @ theta
        for x, y, w in zip(X, Y, share):
            symbols = [space.symbols_.index(a) for a in y]
            Z = np.array([symbols, *product(range(3), repeat=len(x))])
            f = (x @ W)[np.arange(len(x)), Z].sum(axis=1)
            f += transitions[Z[:, :-1], Z[:, 1:]].sum(axis=1)
            total += w * (logsumexp(f[1:]) - f[0])
        return total

    value, gradient = chain.value_and_gradient(theta)
    assert_allclose(value, objective(theta))
    assert_allclose(gradient, approx_fprime(theta, objective, 1e-6), atol=2e-5)


def test_probabilities_are_those_of_the_list(model):
    X, Y = sentences()
    probabilities = model.predict_marginals(X[:10])
    log_proba, partition = model.log_proba(X[:10], Y[:10]), model.partition(X[:10])
    best = model.space_.validate(model.predict(X[:10]))
    for i in range(10):
        Z, log_probability, log_partition = listed(model, X[i])
        assert_allclose(partition.values[i], log_partition)
        indicators = (Z[:, :, None] == np.arange(3)).astype(float)
        assert_allclose(probabilities[i], np.tensordot(np.exp(log_probability), indicators, axes=1))
        symbols = model.space_.validate(Y[i : i + 1])[0]
        at = (symbols[: Z.shape[1]] == Z).all(axis=1)
        assert_allclose(log_proba[i], log_probability[at][0])
        assert_array_equal(best[i, : Z.shape[1]], Z[log_probability.argmax()])


@pytest.mark.parametrize("loss", ["hamming", SequenceHamming(bigrams=0.7)])
def test_predictions_of_least_risk(model, loss):
    X, _ = sentences()
    found = model.decode(X[:10], loss=loss)
    for i in range(10):
        Z, log_probability, _ = listed(model, X[i])
        differ = (Z[:, None] != Z[None]).sum(axis=2).astype(float)
        if loss != "hamming":
            pairs = Z[:, :-1] * 3 + Z[:, 1:]
            differ += 0.7 * (pairs[:, None] != pairs[None]).sum(axis=2)
        assert_allclose(found.values[i], (differ @ np.exp(log_probability)).min())


def test_draws_have_the_probabilities_of_the_model(model):
    X, _ = sentences(shortest=3)
    drawn = model.sample(X[:2], 3000, rng=0)
    for x, sequences in zip(X, drawn):
        Z, log_probability, _ = listed(model, x)
        symbols = model.space_.validate(sequences)[:, : len(x)]
        assert_drawn_from(symbols, Z, np.exp(log_probability))


def test_known_symbols_and_forbidden_steps_condition_the_distribution(model):
    X, _ = sentences(shortest=3)
    constraints = {"known": {1: "b"}, "forbidden": [("a", "b")]}
    probabilities = model.predict_marginals(X[:3], restrict=constraints)
    for x, found in zip(X, probabilities):
        Z, log_probability, _ = listed(model, x)
        steps = (Z[:, :-1] == 0) & (Z[:, 1:] == 1)
        kept = (Z[:, 1] == 1) & ~steps.any(axis=1)
        weight = np.exp(log_probability[kept]) / np.exp(log_probability[kept]).sum()
        indicators = (Z[kept][:, :, None] == np.arange(3)).astype(float)
        assert_allclose(found, np.tensordot(weight, indicators, axes=1), atol=1e-12)


def test_the_k_best(model):
    X, _ = sentences(shortest=3)
    best = model.kbest(X[:3], 4)
    for i in range(3):
        values = np.sort(-listed(model, X[i])[1])[:4] - model.partition(X[i : i + 1]).values
        assert_allclose(best.values[i], values)


@pytest.mark.parametrize("format", ["sparse", "dictionaries"])
def test_inputs_of_all_kinds(format):
    X, Y = sentences(p=3)
    same = [sparse.csr_array(x) for x in X]
    if format == "dictionaries":
        same = [[{f"x{j}": value for j, value in enumerate(row)} for row in x] for x in X]
    dense = ExponentialFamily(Sequences(), alpha=1e-3, tol=1e-8, fit_intercept=False).fit(X, Y)
    other = ExponentialFamily(Sequences(), alpha=1e-3, tol=1e-8, fit_intercept=False).fit(same, Y)
    assert_allclose(other.objective_, dense.objective_, rtol=1e-8)
    assert_allclose(other.log_proba(same, Y), dense.log_proba(X, Y), atol=1e-4)


def test_it_is_the_model_of_crfsuite():
    """crfsuite minimises the sum of negative log-likelihoods plus c2 |w|²: c2 = lam n."""
    crfsuite = pytest.importorskip("pycrfsuite")
    X, Y = sentences(60, p=3)
    X = [np.abs(x) for x in X]  # crfsuite leaves out features of negative sum
    lam = 0.01
    model = ExponentialFamily(Sequences(), alpha=lam, tol=1e-8, fit_intercept=False).fit(X, Y)
    trainer = crfsuite.Trainer("lbfgs", verbose=False)
    named = [[{f"x{j}": float(v) for j, v in enumerate(row)} for row in x] for x in X]
    for x, y in zip(named, Y):
        trainer.append(crfsuite.ItemSequence(x), y)
    trainer.set_params(
        {"c1": 0.0, "c2": lam * len(X), "epsilon": 1e-10, "max_iterations": 2000,
         "feature.possible_states": True, "feature.possible_transitions": True}
    )  # fmt: skip
    with tempfile.NamedTemporaryFile() as file:
        trainer.train(file.name)
        tagger = crfsuite.Tagger()
        tagger.open(file.name)
        log_probabilities = []
        for x, y in zip(named, Y):
            tagger.set(crfsuite.ItemSequence(x))
            log_probabilities.append(np.log(tagger.probability(y)))
        info = tagger.info()
    transitions = np.array(
        [[info.transitions[a, b] for b in "abc"] for a in "abc"]
    )  # fmt: skip
    assert_allclose(model.transition_coef_, transitions, atol=1e-3)
    assert_allclose(model.log_proba(X, Y), log_probabilities, atol=1e-3)
    assert_allclose(model.log_proba(X, Y).mean(), np.mean(log_probabilities), atol=1e-4)


def test_what_does_not_fit():
    X, Y = sentences()
    with pytest.raises(ValueError, match="the space is Sequences"):
        ExponentialFamily(LabelSets(), alpha=1e-3, fit_intercept=False).fit(X, Y)
    with pytest.raises(ValueError, match="summed exactly"):
        ExponentialFamily(Sequences(), alpha=1e-3, solver="contrastive", fit_intercept=False).fit(
            X, Y
        )
    fitted = ExponentialFamily(Sequences(), alpha=1e-3, fit_intercept=False).fit(X, Y)
    with pytest.raises(ValueError, match=r"X\[0\] has \d positions and y\[0\] \d symbols"):
        fitted.log_proba(X[:1], [Y[0] + ["a"]])
    with pytest.raises(ValueError, match="length"):
        fitted.predict(X[:1], restrict={"length": 2})
