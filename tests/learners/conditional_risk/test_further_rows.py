# SPDX-License-Identifier: BSD-3-Clause
"""Models by landmarks go on with further rows, predict in batches, and come back from files."""

import pickle

import numpy as np
import pytest

from learners.stream_cases import (
    CASES,
    N,
    chain,
    classes,
    closed_sets,
    label_sets,
)
from learners.stream_decisions import (
    X_NEW,
    X,
    assert_same_bits,
    assert_same_decisions,
    blocks,
    brute_risk,
    by_landmarks,
    minimizer,
)
from skstruct import config_context
from skstruct.exceptions import InfeasibleError
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import Neighbors
from skstruct.spaces import Classes, LabelSets
from skstruct.streaming import ArraySource, decode_batches, predict_batches


# ---------------------------------------------------------------------- further rows
@pytest.mark.parametrize("name", ["classes", "label sets, zero-one", "box", "words"])
def test_further_rows(name):
    space, loss, outputs = CASES[name]
    y = outputs(X)
    ours, theirs = (by_landmarks(space, loss, n_landmarks=9) for _ in range(2))
    space = Classes() if space is None else space
    for model in (ours, theirs):
        model.set_params(space=space.fit(y)).partial_fit(X[:20], y[:20])
    for i in range(20, N, 7):
        ours.partial_fit(X[i : i + 7], y[i : i + 7])
    theirs.partial_fit(X[20:], y[20:])
    assert ours.smoother_.stats_.n == theirs.smoother_.stats_.n == N
    assert_same_decisions(ours, theirs)
    whole = by_landmarks(space, loss, n_landmarks=9).partial_fit(X, y)
    assert_same_decisions(whole, by_landmarks(space, loss, n_landmarks=9).fit(blocks(X, y)))


def test_further_rows_go_on_from_any_fit_by_landmarks(tmp_path):
    y = classes(X)
    weight = np.linspace(0.5, 1.0, N)
    table = tmp_path / "model"
    for start in (
        by_landmarks(alpha="auto").fit(X[:30], y[:30], weight[:30]),
        by_landmarks(alpha="auto").fit(blocks(X[:30], y[:30], weight=weight[:30])),
        by_landmarks(alpha="auto").partial_fit(X[:30], y[:30], weight[:30]),
    ):
        save_model(start, table)
        loaded = load_model(table)
        assert_same_decisions(loaded, start)
        for model in (start, loaded):
            model.partial_fit(X[30:], y[30:], weight[30:])
            assert model.smoother_.stats_.n == N
        right = {alpha: brute_risk(start, X, y, alpha, weight) for alpha in (start.alpha_, 1.0)}
        assert right[start.alpha_] <= right[1.0] + 1e-12
        assert len(start.smoother_.sample_[1]) == len(start.problem_.outputs) == N
        assert_same_decisions(loaded.smoother_ and loaded, loaded)
        np.testing.assert_allclose(
            loaded.smoother_.with_alpha(0.1).predict(X_NEW),
            start.smoother_.with_alpha(0.1).predict(X_NEW), atol=1e-9,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["classes", "label sets, zero-one", "words"])
def test_what_the_first_rows_listed_stays(name, tmp_path):
    """Later rows have other outputs; a loss named again, or a model file, must list the same."""
    space, loss, outputs = CASES[name]
    y = outputs(X)
    order = np.argsort([str(z) for z in y])
    rows, y = X[order], [y[i] for i in order]
    y = np.array(y) if name != "words" else y
    model = by_landmarks(space, loss, n_landmarks=9)
    fixed = (Classes(sorted(set(classes(X)))) if space is None else space).fit(y)
    model.set_params(space=fixed).partial_fit(rows[:25], y[:25])
    model.partial_fit(rows[25:], y[25:])
    again = "zero_one" if loss is None else loss
    np.testing.assert_allclose(
        model.predict_risk(X_NEW, loss=again), model.predict_risk(X_NEW), atol=1e-12
    )
    save_model(model, tmp_path / "model")
    assert_same_decisions(load_model(tmp_path / "model"), model)


@pytest.mark.parametrize("alpha", [0.1, "auto"])
def test_further_rows_after_an_exact_fit(alpha):
    """Its rows are the first; all of them may become landmarks."""
    y, weight = classes(X), np.linspace(0.5, 2.0, N)
    started = minimizer(alpha=alpha, n_landmarks=N).fit(X[:30], y[:30], weight[:30])
    assert started.solver_ in ("cholesky", "spectral")
    started.partial_fit(X[30:], y[30:], weight[30:])
    anew = by_landmarks(alpha=alpha).partial_fit(X[:30], y[:30], weight[:30])
    anew.partial_fit(X[30:], y[30:], weight[30:])
    assert started.solver_ == "nystroem"
    assert started.alpha_ == pytest.approx(anew.alpha_)
    assert_same_decisions(started, anew)


@pytest.mark.parametrize("name", ["label sets", "label sets, F1", "rankings", "words"])
def test_further_rows_after_an_exact_fit_by_weights_of_rows(name):
    """With fewer rows than coordinates of the embedding."""
    space, loss, outputs = CASES[name]
    few = slice(0, 20, 5) if name == "words" else slice(0, 3)
    y = outputs(X)
    started = minimizer(space, loss, n_landmarks=N).fit(X[few], y[few])
    assert started.problem_.by_weights
    anew = by_landmarks(space, loss).partial_fit(X[few], y[few])
    for model in (started, anew):
        model.partial_fit(X[20:30], y[20:30])
    assert_same_decisions(started, anew)


def test_small_arrays_in_files_are_arrays(tmp_path):
    """Whatever needs all rows at once has them."""
    y = classes(X)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for options in ({}, {"smoother": Neighbors(3)}, {"solver": "cholesky"}, {"cv": 5}):
        options = {"alpha": "auto" if "cv" in options else 0.1, **options}
        ours, theirs = (minimizer(**options).fit(rows, y) for rows in (mapped, X))
        assert ours.predict_risk(X_NEW).tobytes() == theirs.predict_risk(X_NEW).tobytes()


@pytest.mark.parametrize("name", CASES)
def test_the_first_rows_may_be_few(name):
    """Fewer than the embedding has coordinates; by the weights of rows nothing could go on."""
    space, loss, outputs = CASES[name]
    y = outputs(X)
    model = minimizer(None if space is None else space.fit(y), loss).partial_fit(X[:3], y[:3])
    assert not model.problem_.by_weights
    if space is not None and name != "words":  # names are those of the first rows
        model.partial_fit(X[3:], y[3:])
        assert model.smoother_.stats_.n == N
    assert len(model.predict(X_NEW)) == 15


@pytest.mark.parametrize("name", ["label sets", "rankings"])
def test_a_model_of_few_first_rows_comes_back_from_its_file(name, tmp_path):
    space, loss, outputs = CASES[name]
    y = outputs(X)
    model = minimizer(space, loss).partial_fit(X[:3], y[:3]).partial_fit(X[3:], y[3:])
    save_model(model, tmp_path / "model")
    assert_same_decisions(load_model(tmp_path / "model"), model)
    risks = model.predict_risk(X_NEW, loss=loss)
    np.testing.assert_allclose(risks, model.predict_risk(X_NEW), atol=1e-12)


def test_labels_that_no_row_of_fit_had():
    y = np.eye(4, dtype=int)[np.arange(N) % 4]
    model = by_landmarks(LabelSets(), "f1").fit(X, y)
    with pytest.raises(ValueError, match=r"no row of fit had; begin with partial_fit"):
        model.partial_fit(X[:1], [[1, 1, 1, 0]])
    model.partial_fit(X[:1], [[0, 1, 0, 0]])
    y = label_sets(X)
    y[:, 3] = 0
    prepared = by_landmarks(LabelSets(), "hamming").partial_fit(X, y)
    y[:, 3] = 1
    prepared.partial_fit(np.repeat(X, 20, axis=0), np.repeat(y, 20, axis=0))
    assert prepared.predict(X)[:, 3].all()


# ---------------------------------------------------------------------- batches to predict for
def test_batches_are_predicted_as_all_rows():
    y = closed_sets(X)
    model = by_landmarks(chain(), "hierarchical").fit(X, y)
    parts = [X_NEW[:4], X_NEW[4:4], X_NEW[4:5], X_NEW[5:]]
    for restrict in (None, {"exclude": ["b"]}, {"max_size": 1}):
        whole = model.decode(X_NEW, restrict=restrict)
        for batches in (parts, iter(parts), lambda: iter(parts), ArraySource(X_NEW)):
            found = list(decode_batches(model, batches, restrict=restrict))
            outputs = np.concatenate([d.outputs for d in found])
            np.testing.assert_array_equal(outputs, whole.outputs)
            values = np.concatenate([d.values for d in found])
            np.testing.assert_allclose(values, whole.values, atol=1e-12)
            bounds = np.concatenate([d.bounds for d in found])
            np.testing.assert_allclose(bounds, whole.bounds, atol=1e-12)
        if batches is parts:
            assert [len(d.outputs) for d in found] == [4, 0, 1, 10]
    assert [len(z) for z in predict_batches(model, parts)] == [4, 0, 1, 10]
    other = list(predict_batches(model, parts, loss="zero_one"))
    np.testing.assert_array_equal(np.concatenate(other), model.predict(X_NEW, loss="zero_one"))


@pytest.mark.parametrize("name", CASES)
def test_a_batch_without_rows_is_predicted_as_nothing(name):
    space, loss, outputs = CASES[name]
    model = by_landmarks(space, loss).fit(X, outputs(X))
    some, none = predict_batches(model, [X_NEW[:2], X_NEW[:0]])
    assert len(none) == 0
    assert type(none) is type(some)


def test_frames_keep_their_index(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abc"), index=range(100, 100 + N))
    labels = pandas.DataFrame(label_sets(X), columns=list("wxyz"), index=frame.index)
    model = by_landmarks(LabelSets()).fit(frame, labels)
    parts = list(predict_batches(model, [frame[:3], frame[3:3], frame[3:]]))
    pandas.testing.assert_frame_equal(pandas.concat(parts), model.predict(frame))


def test_bad_batches_are_named():
    y = closed_sets(X)
    model = by_landmarks(chain(), "hierarchical").fit(X, y)
    hole = X_NEW[:4].copy()
    hole[1, 1] = np.inf
    bad = [
        (X_NEW[:3, :2], ValueError, "In batch 1: X has 2 features"),
        (hole, ValueError, "In batch 1: Input X contains infinity"),
        ("three", ValueError, "In batch 1: "),
        (None, (ValueError, TypeError), "In batch 1: "),
    ]
    for batch, kind, said in bad:
        given = predict_batches(model, [X_NEW[:2], batch, X_NEW])
        assert len(next(given)) == 2
        with pytest.raises(kind, match=said):
            next(given)
    constraints = {"include": [["a"], [], ["a"]]}
    with pytest.raises(ValueError, match="differ from row to row"):
        predict_batches(model, [X_NEW[:3], X_NEW[:4]], restrict=constraints)
    with pytest.raises(InfeasibleError, match="In batch 0: "):
        list(predict_batches(model, [X_NEW], restrict={"include": ["a"], "max_size": 0}))
    with pytest.raises(TypeError, match="An array is one batch"):
        predict_batches(model, X_NEW).__next__()

    def broken():
        yield X_NEW
        raise OSError("the disk is gone")

    given = predict_batches(model, broken())
    assert len(next(given)) == 15
    with pytest.raises(OSError, match="the disk is gone"):
        next(given)


# ---------------------------------------------------------------------- model files
@pytest.mark.slow
@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("solver", ["nystroem", "fourier"])
@pytest.mark.parametrize("how", ["fit", "source", "partial_fit"])
def test_model_files(device, solver, how, tmp_path):
    if device:
        pytest.importorskip("torch")
    y = classes(X)
    model = minimizer(solver=solver, n_landmarks=12, alpha="auto")
    with config_context(device=device):
        if how == "source":
            model.fit(blocks(X, y))
        else:
            getattr(model, how)(X, y)
    assert model.device_ == device
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert_same_decisions(loaded, model, atol=1e-10)
    for each in (model, loaded):
        each.partial_fit(X[:9], y[:9])
    assert loaded.smoother_.stats_.n == N + 9
    ours, theirs = (each.smoother_.with_alpha(0.3).predict(X_NEW) for each in (model, loaded))
    np.testing.assert_allclose(ours, theirs, atol=1e-9)
    copied = pickle.loads(pickle.dumps(model))
    assert_same_bits(copied, model)
