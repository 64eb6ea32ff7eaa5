# SPDX-License-Identifier: BSD-3-Clause
"""Kernel dependency estimation: projections and pre-images against explicit components."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold

import skstruct
from output_kernel_cases import WORDS, inputs
from skstruct import OutputKernelRegressor, config_context
from skstruct.kernels import RBF, Dirac, HammingKernel, SpectrumKernel, resolve_output_kernel
from skstruct.learners import PrincipalComponents
from skstruct.learners.output_kernel.components import OutputComponents
from skstruct.spaces import Box, Candidates, Hierarchy, LabelSets, Sequences

X, NEW = inputs(len(WORDS)), inputs(15, 1)
ALPHA = 0.2


def model_of(kernel="hamming", space=None, **settings):
    return OutputKernelRegressor(
        space, kernel=RBF(0.5), output_kernel=kernel, alpha=ALPHA, **settings
    )


def explicit(K, K_new, r):
    """<Phi(z), h(x)> of candidates (m, c) by ridge regression on each of r components, typed from
    the definitions: h = s(x) mean + sum_k t_k(x) v_k.
    """
    m = len(K)
    H = np.eye(m) - 1 / m
    values, U = np.linalg.eigh(H @ K @ H)
    order = np.argsort(values)[::-1]
    order = order[values[order] > 1e-10 * values.max()]
    # Components of one variance are no matter of fact: all of them, or none.
    order = order[values[order] >= values[order][min(r, len(order)) - 1] - 1e-9 * values.max()]
    targets = U[:, order] * np.sqrt(values[order])  # <v_k, Phi(y_i) - mean>
    coef = np.linalg.inv(rbf_kernel(X, gamma=0.5) + ALPHA * np.eye(m))
    v = rbf_kernel(NEW, X, gamma=0.5)
    t, s = v @ coef @ targets, v @ coef @ np.ones(m)
    of_candidates = U[:, order].T / np.sqrt(values[order])[:, None] @ H @ K_new  # <v_k, Phi(z)>
    return s[:, None] * K_new.mean(axis=0) + t @ of_candidates


KERNELS = [
    Dirac(),
    HammingKernel(length=6),
    SpectrumKernel(2),
    Dirac() + 0.5 * HammingKernel(length=6),
]


@pytest.mark.parametrize("r", [1, 2, 3, 100])
@pytest.mark.parametrize("kernel", KERNELS, ids=["dirac", "hamming", "spectrum", "sum"])
@pytest.mark.parametrize("memory", ["1GB", "1kB"])
def test_the_nearest_candidate_by_explicit_components(kernel, r, memory):
    with config_context(memory=memory):
        model = model_of(kernel, method=PrincipalComponents(r)).fit(X, WORDS)
        decoded, ranked = model.decode(NEW), model.kbest(NEW, 3)
    candidates = sorted(set(WORDS))
    fitted = model.output_kernel_
    answer = explicit(fitted(WORDS), fitted(WORDS, candidates), r)
    values = fitted.diagonal(candidates) - 2 * answer
    assert_allclose(decoded.values, values.min(axis=1), atol=1e-8)
    at = [candidates.index(word) for word in decoded.outputs]
    assert_allclose(values[np.arange(len(NEW)), at], values.min(axis=1), atol=1e-8)
    assert_allclose(ranked.values, np.sort(values, axis=1)[:, :3], atol=1e-8)


SPACES = {
    "sequences": (Sequences("abc", 3), "hamming", [list("abc"), list("abb"), list("caa")] * 3),
    "labels": (LabelSets("abc"), "linear", [["a"], ["a", "b"], [], ["c"], ["b"]] + [["a"]] * 4),
    "tree": (Hierarchy([(0, 1), (0, 2), (2, 3)]), "linear", [[0], [0, 2], [0, 1]] * 3),
    "box": (Box(-2.0, 2.0), "linear", np.random.default_rng(3).uniform(-1, 1, (9, 4))),
}


@pytest.mark.parametrize("name", SPACES)
def test_whole_spaces_are_searched(name):
    """All components: ridge regression; fewer: the same decoder from projected means."""
    space, kernel, y = SPACES[name]
    plain = model_of(kernel, space).fit(X, y)
    whole = model_of(kernel, space, method=PrincipalComponents(100)).fit(X, y)
    assert_allclose(whole.decode(NEW).values, plain.decode(NEW).values, atol=1e-8)
    some = model_of(kernel, space, method=PrincipalComponents(1)).fit(X, y)
    K = some.output_kernel_(y)
    outputs = some.predict(NEW)
    K_new = some.output_kernel_(y, outputs)
    answer = explicit(K, K_new, 1).diagonal()
    found = some.output_kernel_.diagonal(outputs) - 2 * answer
    assert_allclose(some.decode(NEW).values, found, atol=1e-8)
    if name != "box":  # no listed output is nearer
        listed = space.fit(y).restore(space.enumerate()) if name != "labels" else None
        if listed is not None:
            values = some.output_kernel_.diagonal(listed) - 2 * explicit(
                K, some.output_kernel_(y, listed), 1
            )
            assert_allclose(found, values.min(axis=1), atol=1e-8)


def test_components_are_those_of_scikit_learn():
    kernel = resolve_output_kernel("hamming").fit(WORDS)
    K = kernel(WORDS)
    theirs = KernelPCA(kernel="precomputed").fit(K)
    model = model_of(method=PrincipalComponents(2)).fit(X, WORDS)
    variances = model.output_variances_
    assert_allclose(variances * len(WORDS), theirs.eigenvalues_[: len(variances)], atol=1e-8)
    coordinates = theirs.transform(K)[:, :2]
    gram, number = model.problem_.output_gram()
    components = OutputComponents(gram, number).first(2)
    centred = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
    b = components.projected(np.eye(9) - 1 / 9)
    assert_allclose(b @ centred @ b.T, coordinates @ coordinates.T, atol=1e-8)
    assert components.explained == pytest.approx(variances[:2].sum() / variances.sum())


@pytest.mark.parametrize("n", [1, 2, 9])
def test_weights_are_repeated_rows(n):
    weight = np.array([1, 2, 1, 3, 1, 0, 1, 1, 2])
    repeated = np.repeat(np.arange(9), weight)
    one = model_of(method=PrincipalComponents(n), space=Candidates(WORDS)).fit(
        X, WORDS, sample_weight=weight
    )
    two = model_of(method=PrincipalComponents(n), space=Candidates(WORDS)).fit(
        X[repeated], [WORDS[i] for i in repeated]
    )
    assert_allclose(one.decode(NEW).values, two.decode(NEW).values, atol=1e-8)
    assert_allclose(one.output_variances_, two.output_variances_, atol=1e-10)


def test_coefficients_and_explanations_are_of_the_answers():
    model = model_of(method=PrincipalComponents(2)).fit(X, WORDS)
    weights = model.explain(NEW).weights
    assert_allclose(weights, rbf_kernel(NEW, X, gamma=0.5) @ model.coef_.T, atol=1e-10)
    K = model.gram_outputs()
    assert_allclose(weights @ K, explicit(K, K, 2), atol=1e-8)


def test_marginals_are_those_of_the_projected_answers():
    space = LabelSets("abc")
    y = [["a"], ["a", "b"], [], ["c"], ["b"], ["a"], ["b", "c"], [], ["c"]]
    model = model_of("linear", space, method=PrincipalComponents(1)).fit(X, y)
    psi = space.fit(y).validate(y).astype(float)
    expected = model.explain(NEW).weights @ psi
    found = model.predict_marginals(NEW)
    inside = (expected > 0.05) & (expected < 0.95)
    assert inside.any()
    assert_allclose(found[inside], expected[inside], atol=1e-8)
    whole = model_of("linear", space, method=PrincipalComponents(3)).fit(X, y)
    plain = model_of("linear", space).fit(X, y)
    assert_allclose(whole.predict_marginals(NEW), plain.predict_marginals(NEW), atol=1e-8)
    assert np.abs(model.predict_marginals(NEW) - plain.predict_marginals(NEW)).max() > 0.01


# ------------------------------------------------------------------ how many
@pytest.mark.slow
def test_how_many_by_held_out_rows():
    """The same folds by hand: models fitted to the rest of the rows, one for each number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    angle = X[:, 0]
    Y = np.column_stack([np.cos(angle), np.sin(angle), 0.5 * rng.normal(size=(40, 3)).T[0]])
    Y = np.hstack([Y, 0.5 * rng.normal(size=(40, 2))])
    model = OutputKernelRegressor(
        space=Candidates(list(Y)), kernel=RBF(0.5), output_kernel="linear", alpha=0.5,
        method=PrincipalComponents("auto"), random_state=0,
    ).fit(X, Y)  # fmt: skip
    risks = {trial["n_components"]: trial["risk"] for trial in model.component_search_.trials}
    assert list(risks) == [1, 2, 4, 5]
    for n, risk in risks.items():
        losses = np.zeros(40)
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            part = OutputKernelRegressor(
                space=Candidates(list(Y)), kernel=RBF(0.5), output_kernel="linear", alpha=0.5,
                method=PrincipalComponents(n),
            ).fit(X[train], Y[train])  # fmt: skip
            losses[test] = ((part.predict(X[test]) - Y[test]) ** 2).sum(axis=1) / 2
        assert risk == pytest.approx(losses.mean())
    assert model.n_components_ == min(risks, key=lambda n: (round(risks[n], 12), n))


@pytest.mark.filterwarnings("ignore:On rows left out")  # these inputs tell nothing of the words
def test_penalty_and_number_together():
    model = OutputKernelRegressor(
        kernel=RBF(0.5), output_kernel="hamming", method=PrincipalComponents("auto"), random_state=0
    ).fit(X, WORDS)
    assert model.search_ is not None
    assert 1 <= model.n_components_ <= len(model.output_variances_)
    one = OutputKernelRegressor(output_kernel="hamming", method=PrincipalComponents("auto")).fit(
        X[:1], WORDS[:1]
    )
    assert one.predict(X[:1]).tolist() == ["cat"]


def test_landmarks():
    plain = model_of(
        solver="nystroem", n_landmarks=9, method=PrincipalComponents(2), random_state=0
    )
    exact = model_of(method=PrincipalComponents(2)).fit(X, WORDS)
    found = plain.fit(X, WORDS)
    assert_allclose(found.decode(NEW).values, exact.decode(NEW).values, atol=1e-6)


# ------------------------------------------------------------------ kept, refused
def test_saved_and_read_again(tmp_path):
    for memory in ("1GB", "1kB"):
        with config_context(memory=memory):
            model = model_of(method=PrincipalComponents(2)).fit(X, WORDS)
            skstruct.save_model(model, tmp_path / "model.skstruct")
            again = skstruct.load_model(tmp_path / "model.skstruct")
        assert_array_equal(model.decode(NEW).values, again.decode(NEW).values)
        assert again.n_components_ == 2
        assert_array_equal(again.coef_, model.coef_)


def test_outputs_that_are_all_the_same_have_no_component():
    model = model_of(method=PrincipalComponents(3)).fit(X, ["cat"] * 9)
    assert model.n_components_ == 0
    assert model.predict(NEW).tolist() == ["cat"] * len(NEW)


@pytest.mark.parametrize("n", [0, -1, 1.5, "all", True])
def test_bad_numbers(n):
    with pytest.raises(ValueError, match="n_components is a whole number from 1"):
        model_of(method=PrincipalComponents(n)).fit(X, WORDS)


def test_by_name_the_number_is_chosen():
    model = model_of(method="components", random_state=0).fit(X, WORDS)
    same = model_of(method=PrincipalComponents("auto"), random_state=0).fit(X, WORDS)
    assert model.n_components_ == same.n_components_


def test_components_of_one_variance_stay_together():
    model = model_of("dirac", method=PrincipalComponents(1)).fit(X, list("abcdefghi"))
    assert model.n_components_ == 8
    plain = model_of("dirac").fit(X, list("abcdefghi"))
    assert_allclose(model.decode(NEW).values, plain.decode(NEW).values, atol=1e-10)
