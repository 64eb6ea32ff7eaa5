# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of rows whose outputs have gaps: the minimum of all rows at once, by passes over them."""

import numpy as np
import pytest

from learners.stream_cases import classes, closed_sets, inputs, label_sets
from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF
from skstruct.learners.conditional_risk import streams
from skstruct.losses import F1
from skstruct.persistence import load_model, save_model
from skstruct.spaces import Classes, Embeddings, Hierarchy, LabelSets, Sequences
from skstruct.streaming import ArraySource, IteratorSource

X, X_NEW = inputs(240), inputs(30, seed=1)


def holes(shape, share=0.4, seed=5):
    return np.random.default_rng(seed).uniform(size=shape) < share


def gappy_labels():
    Y = label_sets(X).astype(float)
    Y[holes(Y.shape)] = np.nan
    return Y


def gappy_classes():
    y = classes(X).astype(object)
    y[holes(len(y))] = None
    return y


def gappy_quantities():
    Q = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    Q[holes(Q.shape)] = np.nan
    return Q


def gappy_sequences():
    known = ~holes(X.shape)
    signs = np.where(X > 0, "up", "down")
    return [[s if k else None for s, k in zip(*row)] for row in zip(signs, known)]


def gappy_sets():
    Y = closed_sets(X).astype(float)
    Y[holes(Y.shape)] = np.nan
    return Y


CASES = {
    "labels": (None, gappy_labels),
    "classes": (Classes(), gappy_classes),
    "quantities": (None, gappy_quantities),
    "sequences": (Sequences(), gappy_sequences),
    "hierarchy": (Hierarchy([("a", "b"), ("b", "c")], labels=["a", "b", "c"]), gappy_sets),
}


def blocks(y, size=40, order=None):
    """A function that gives pairs of some rows, in another order of the blocks if asked for."""
    starts = list(range(0, len(X), size))
    starts = starts if order is None else [starts[i] for i in order]
    return lambda: ((X[i : i + size], y[i : i + size]) for i in starts)


def means(model):
    return model.smoother_.predict(X_NEW)


def minimizer(space=None, **options):
    return ConditionalRiskMinimizer(space, **{"kernel": RBF(0.3), "alpha": 0.5, **options})


def same_landmarks(monkeypatch, y):
    """Samples of a stream are all rows, in their first order, whatever the order of the blocks."""
    whole = ArraySource(X, y).sample(len(X))
    monkeypatch.setattr(streams, "first_rows", lambda model, source: (whole, None))


@pytest.mark.parametrize("case", CASES)
def test_decisions_are_those_of_all_rows_at_once(case):
    space, made = CASES[case]
    y = made()
    held = minimizer(space, n_landmarks=len(X)).fit(X, y)
    if case == "hierarchy":  # where rows that are held are filled, too
        assert held.filling_ is not None
        held.problem_.filling = None
        held.smoother_ = held.smoother_.with_targets(held.problem_.targets())
    streamed = minimizer(space, n_landmarks=len(X)).fit(ArraySource(X, y))
    assert streamed.solver_ == "masked"
    assert streamed.filling_ is None
    np.testing.assert_allclose(means(streamed), means(held), atol=2e-4)
    found, wanted = streamed.decode(X_NEW).outputs, held.decode(X_NEW).outputs
    if case == "quantities":
        np.testing.assert_allclose(found, wanted, atol=1e-4)
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("case", CASES)
def test_blocks_of_any_size_in_any_order_give_the_same(case, monkeypatch):
    space, made = CASES[case]
    y = made()
    same_landmarks(monkeypatch, y)
    first = minimizer(space).fit(IteratorSource(blocks(y)))
    for other in (blocks(y, 17), blocks(y, 60, order=[2, 0, 3, 1])):
        found = minimizer(space).fit(IteratorSource(other))
        np.testing.assert_allclose(means(found), means(first), atol=1e-5)


@pytest.mark.parametrize("case", ["classes", "sequences", "labels", "quantities"])
def test_a_block_may_say_nothing(case):
    space, made = CASES[case]
    y = made()
    for i in range(40, 80):
        y[i] = [None] * 3 if case == "sequences" else None if case == "classes" else np.nan
    kept = np.r_[0:40, 80 : len(X)]
    model = minimizer(space, n_landmarks=len(X)).fit(IteratorSource(blocks(y)))
    rows = [y[i] for i in kept] if case == "sequences" else y[kept]
    alone = minimizer(space, n_landmarks=len(X)).fit(X[kept], rows)
    found, wanted = model.decode(X_NEW).outputs, alone.decode(X_NEW).outputs
    if case == "quantities":
        np.testing.assert_allclose(found, wanted, atol=1e-3)
    else:
        assert (found == wanted).mean() > 0.95


def test_the_penalty_is_chosen_on_the_sample():
    y = gappy_labels()
    held = minimizer(alpha="auto", n_landmarks=len(X)).fit(X, y)
    streamed = minimizer(alpha="auto", n_landmarks=len(X)).fit(ArraySource(X, y))
    assert streamed.alpha_ == pytest.approx(held.alpha_)
    assert len(streamed.search_.trials) == len(held.search_.trials)


def test_nothing_but_data_given_chooses_kernel_and_penalty():
    y = gappy_labels()
    model = ConditionalRiskMinimizer().fit(ArraySource(X, y))
    truth = label_sets(X)
    assert (model.predict(X) == truth).mean() > 0.9


def test_gaps_that_come_after_the_sample(monkeypatch):
    y = label_sets(X).astype(float)
    y[200:][holes((40, 4))] = np.nan
    whole = ArraySource(X[:200], y[:200]).sample(200)
    monkeypatch.setattr(streams, "first_rows", lambda model, source: (whole, None))
    late = minimizer().fit(IteratorSource(blocks(y)))
    assert late.problem_.has_gaps
    assert late.smoother_.n_passes_ > 2


def test_complete_outputs_take_one_pass_as_ever():
    y = label_sets(X)
    model = minimizer().fit(ArraySource(X, y.astype(float)))
    assert not model.problem_.has_gaps
    assert model.solver_ == "nystroem"


def test_what_can_be_read_only_once_says_what_to_give():
    with pytest.raises(ValueError, match="can be read only once: give a function"):
        minimizer().fit(blocks(gappy_labels())())


def test_gaps_late_in_an_iterator_say_what_to_give(monkeypatch):
    monkeypatch.setattr(streams, "rows_to_choose_from", lambda *_: 100)
    y = label_sets(X).astype(float)
    y[210, 1] = np.nan
    with pytest.raises(ValueError, match="complete outputs"):
        minimizer(n_landmarks=10).fit(blocks(y)())


def test_further_rows_have_no_gaps():
    message = r"parts of these outputs are missing.*give all rows to fit"
    with pytest.raises(ValueError, match=message):
        minimizer().partial_fit(X, gappy_labels())
    model = minimizer().partial_fit(X, label_sets(X))
    before = means(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X, gappy_labels())
    np.testing.assert_array_equal(means(model), before)


@pytest.mark.parametrize("how", ["arrays", "known", "landmarks", "file", "blocks", "classes"])
def test_no_further_rows_after_a_fit_with_gaps(how, tmp_path):
    """Sums over rows do not say which targets a row had: gaps would count as zeros."""
    y, space = gappy_labels(), None
    if how == "classes":
        y, space = gappy_classes(), Classes()
    whole = label_sets(X) if space is None else classes(X)
    model = minimizer(space, solver="nystroem" if how == "landmarks" else "auto")
    if how == "known":
        model.fit(X, np.nan_to_num(y).astype(int), known=~np.isnan(y))
    else:
        model.fit(*([ArraySource(X, y)] if how == "blocks" else [X, y]))
    if how == "file":
        save_model(model, tmp_path / "gaps.model")
        model = load_model(tmp_path / "gaps.model")
    before = means(model)
    with pytest.raises(ValueError, match=r"parts of the outputs of fit are missing.*give all rows"):
        model.partial_fit(X[:10], whole[:10])
    np.testing.assert_array_equal(means(model), before)


@pytest.mark.parametrize("iterated", [False, True])
def test_values_under_masks_never_leak(iterated):
    values, mask = label_sets(X), holes((len(X), 4))
    models = []
    for hidden in (0, 1):
        y = np.ma.masked_array(np.where(mask, hidden, values), mask)
        source = IteratorSource(blocks(y)) if iterated else ArraySource(X, y)
        models.append(minimizer(alpha="auto").fit(source))
    assert models[0].alpha_ == models[1].alpha_
    np.testing.assert_array_equal(means(models[0]), means(models[1]))


def test_mapped_arrays(tmp_path):
    y = gappy_labels()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    mapped = [np.load(tmp_path / name, mmap_mode="r") for name in ("X.npy", "y.npy")]
    model = minimizer(solver="nystroem").fit(*mapped)
    same = minimizer(solver="nystroem").fit(ArraySource(X, y))
    np.testing.assert_array_equal(means(model), means(same))


def test_a_mask_over_a_mapped_array_is_kept(tmp_path):
    np.save(tmp_path / "y.npy", label_sets(X))
    y = np.ma.masked_array(np.load(tmp_path / "y.npy", mmap_mode="r"), holes((len(X), 4)))
    model = minimizer().fit(ArraySource(X, y))
    same = minimizer().fit(ArraySource(X, np.ma.masked_array(label_sets(X), y.mask)))
    np.testing.assert_array_equal(means(model), means(same))


def test_nulls_of_parquet_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    y, names = gappy_labels(), ["r", "s", "t", "u"]
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame[names] = pandas.DataFrame(y, columns=names).astype("Int8")
    frame["of"] = gappy_classes()
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    inputs = {"inputs": ["a", "b", "c"]}
    from skstruct.streaming import ParquetSource

    model = minimizer().fit(ParquetSource(tmp_path / "rows.parquet", outputs=names, **inputs))
    same = minimizer().fit(ArraySource(X, y))
    np.testing.assert_allclose(model.smoother_.predict(X_NEW), means(same), atol=1e-6)
    model = minimizer().fit(ParquetSource(tmp_path / "rows.parquet", outputs="of", **inputs))
    same = minimizer(Classes()).fit(ArraySource(X, gappy_classes()))
    np.testing.assert_allclose(model.smoother_.predict(X_NEW), means(same), atol=1e-6)


def test_weights_of_rows():
    y, weight = gappy_labels(), np.where(np.arange(len(X)) < 200, 1.0, 0.0)
    model = minimizer(n_landmarks=len(X)).fit(ArraySource(X, y, weight))
    alone = minimizer(n_landmarks=len(X)).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(means(model), means(alone), atol=1e-3)


def test_names_of_later_blocks_are_those_of_the_sample():
    y = gappy_classes()
    y[230] = "oak"

    def spoilt():
        yield from blocks(y)()

    model = minimizer(Classes(["ash", "beech", "cedar"]))
    with pytest.raises(ValueError, match=r"'oak'"):
        model.fit(IteratorSource(spoilt))


def test_model_files(tmp_path):
    model = minimizer(LabelSets()).fit(ArraySource(X, gappy_labels()))
    save_model(model, tmp_path / "m.model")
    again = load_model(tmp_path / "m.model")
    np.testing.assert_array_equal(again.predict(X_NEW), model.predict(X_NEW))


def test_losses_of_labels_need_no_other_fit():
    model = minimizer(LabelSets()).fit(ArraySource(X, gappy_labels()))
    view = Embeddings.of(model.space_).view("independent labels")
    means = model.predict_marginals(X_NEW, raw=True)
    costs = F1(independent=True).bind(view).cost(means, np.ones((len(means), 1)))
    np.testing.assert_array_equal(model.predict(X_NEW, loss="f1"), view.argmin(costs).outputs)
    with pytest.raises(ValueError, match=r"as a whole|another fit"):
        model.predict(X_NEW, loss="zero_one")
