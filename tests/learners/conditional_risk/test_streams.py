# SPDX-License-Identifier: BSD-3-Clause
"""Landmarks decide as the exact system, from arrays, files and iterators."""

import numpy as np
import pytest
from scipy import sparse

from learners.stream_cases import (
    CASES,
    N,
    classes,
    label_sets,
    symbols,
    tokens,
    words,
)
from skstruct import ConditionalRiskMinimizer
from skstruct import OutputKernelRegressor
from skstruct import config_context
from skstruct.exceptions import DataFormatError
from skstruct.exceptions import InfeasibleError
from skstruct.kernels import RBF
from skstruct.kernels import SpectrumKernel
from skstruct.losses import Hamming
from skstruct.losses import Listed
from skstruct.persistence import load_model
from skstruct.persistence import save_model
from skstruct.smoothing import AdditiveKernelRidge
from skstruct.smoothing import Neighbors
from learners.stream_decisions import X_NEW
from learners.stream_decisions import X
from learners.stream_decisions import assert_same_decisions
from learners.stream_decisions import blocks
from learners.stream_decisions import brute_risk
from learners.stream_decisions import by_landmarks
from learners.stream_decisions import minimizer
from skstruct.smoothing.nystroem import landmarks
from skstruct.spaces import Interval, LabelSets, Sequences
from skstruct.streaming import ArraySource, IteratorSource, ParquetSource

<<<<<<< ours
||||||| base
X, X_NEW = inputs(), inputs(15, seed=1)


def minimizer(space=None, loss=None, **options):
    return ConditionalRiskMinimizer(space, loss, **{"gamma": 0.3, "alpha": 0.1, **options})


def by_landmarks(space=None, loss=None, **options):
    return minimizer(space, loss, **{"system": "nystroem", "n_landmarks": N, **options})


def blocks(X, y, size=9, weight=None):
    for i in range(0, X.shape[0] if hasattr(X, "shape") else len(X), size):
        part = slice(i, i + size)
        yield (X[part], y[part]) if weight is None else (X[part], y[part], weight[part])


def assert_same_decisions(ours, theirs, X_new=X_NEW, atol=1e-6):
    ours, theirs = ours.decode(X_new), theirs.decode(X_new)
    np.testing.assert_allclose(ours.values, theirs.values, atol=atol)
    np.testing.assert_allclose(ours.bounds, theirs.bounds, atol=atol)
    if getattr(np.asarray(theirs.outputs), "dtype", None) == np.float64:
        np.testing.assert_allclose(ours.outputs, theirs.outputs, atol=atol)
    else:
        assert [str(z) for z in ours.outputs] == [str(z) for z in theirs.outputs]


def assert_same_bits(ours, theirs, X_new=X_NEW):
    for name in ("dual_coef_", "intercept_"):
        bits = [getattr(model.smoother_, name).tobytes() for model in (ours, theirs)]
        assert bits[0] == bits[1]
    assert ours.decode(X_new).values.tobytes() == theirs.decode(X_new).values.tobytes()

=======
X, X_NEW = inputs(), inputs(15, seed=1)


def minimizer(space=None, loss=None, **options):
    return ConditionalRiskMinimizer(space, loss, **{"kernel": RBF(0.3), "alpha": 0.1, **options})


def by_landmarks(space=None, loss=None, **options):
    return minimizer(space, loss, **{"solver": "nystroem", "n_landmarks": N, **options})


def blocks(X, y, size=9, weight=None):
    for i in range(0, X.shape[0] if hasattr(X, "shape") else len(X), size):
        part = slice(i, i + size)
        yield (X[part], y[part]) if weight is None else (X[part], y[part], weight[part])


def assert_same_decisions(ours, theirs, X_new=X_NEW, atol=1e-6):
    ours, theirs = ours.decode(X_new), theirs.decode(X_new)
    np.testing.assert_allclose(ours.values, theirs.values, atol=atol)
    np.testing.assert_allclose(ours.bounds, theirs.bounds, atol=atol)
    if getattr(np.asarray(theirs.outputs), "dtype", None) == np.float64:
        np.testing.assert_allclose(ours.outputs, theirs.outputs, atol=atol)
    else:
        assert [str(z) for z in ours.outputs] == [str(z) for z in theirs.outputs]


def assert_same_bits(ours, theirs, X_new=X_NEW):
    for name in ("dual_coef_", "intercept_"):
        bits = [getattr(model.smoother_, name).tobytes() for model in (ours, theirs)]
        assert bits[0] == bits[1]
    assert ours.decode(X_new).values.tobytes() == theirs.decode(X_new).values.tobytes()

>>>>>>> theirs

# ---------------------------------------------------------------------- as the exact system
@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, "auto"])
@pytest.mark.parametrize("name", CASES)
def test_with_every_row_a_landmark_it_decides_as_the_exact_system(name, alpha):
    space, loss, outputs = CASES[name]
    y = outputs(X)
    exact = minimizer(space, loss, alpha=alpha).fit(X, y)
    assert exact.solver_ in ("cholesky", "spectral")
    ours = by_landmarks(space, loss, alpha=alpha).fit(X, y)
    streamed = minimizer(space, loss, alpha=alpha, n_landmarks=N).fit(blocks(X, y))
    for model in (ours, streamed):
        assert model.solver_ == "nystroem"
        assert model.alpha_ == pytest.approx(exact.alpha_)
        assert_same_decisions(model, exact)
    if alpha == "auto":
        for model in (ours, streamed):
            risks = [[t["risk"] for t in m.search_.trials] for m in (model, exact)]
            np.testing.assert_allclose(*risks, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.1, "auto"])
@pytest.mark.parametrize("loss", ["absolute", "cauchy"])
def test_losses_that_need_weights(loss, alpha):
    y = np.clip(X[:, 0], -2, 2)
    space = Interval(-2.0, 2.0)
    exact = minimizer(space, loss, alpha=alpha).fit(X, y)
    ours = by_landmarks(space, loss, alpha=alpha).fit(X, y)
    assert ours.alpha_ == pytest.approx(exact.alpha_)
    assert_same_decisions(ours, exact, atol=1e-5)
    with pytest.raises(ValueError, match=r"needs the weights of all training rows.*Listed"):
        by_landmarks(space, loss).fit(blocks(X, y))
    assert not hasattr(ours, "partial_fit")


@pytest.mark.parametrize("alpha", [0.1, "auto"])
def test_sequences_with_features_for_every_position(alpha):
    rows, new = tokens(X), tokens(X_NEW)
    exact = minimizer(Sequences(), alpha=alpha).fit(rows, symbols(rows))
    ours = by_landmarks(Sequences(), alpha=alpha, n_landmarks=200).fit(rows, symbols(rows))
    assert ours.alpha_ == pytest.approx(exact.alpha_)
    assert_same_decisions(ours, exact, new)
    batches = [new[:4], new[4:5], [], new[5:]]
    decided = [z for batch in ours.predict_batches(batches) for z in batch]
    assert decided == list(ours.predict(new))
    with pytest.raises(ValueError, match="every position of a sequence are not read in blocks"):
        by_landmarks(Sequences()).fit(blocks(rows, symbols(rows)))
    with pytest.raises(ValueError, match="every position of a sequence are not read in blocks"):
        ours.partial_fit(rows, symbols(rows))


def test_sequences_of_which_one_is_held_out_by_a_sample(monkeypatch):
    """Positions of a sequence are decided together: alpha is judged by all of them."""
    monkeypatch.setattr(landmarks, "FEWEST_ROWS", 10)
    rows = tokens(X)
    exact = minimizer(Sequences(), alpha="auto").fit(rows, symbols(rows))
    ours = by_landmarks(Sequences(), alpha="auto", n_landmarks=20).fit(rows, symbols(rows))
    assert len(ours.search_.trials) == len(exact.search_.trials)


@pytest.mark.parametrize("kernel", ["dirac", "hamming"])
@pytest.mark.parametrize("alpha", [0.2, "auto"])
def test_output_kernels(kernel, alpha):
    y = words(X)
    shared = {"output_kernel": kernel, "kernel": RBF(0.3), "alpha": alpha}
    exact = OutputKernelRegressor(**shared).fit(X, y)
    ours = OutputKernelRegressor(n_landmarks=N, solver="nystroem", **shared).fit(X, y)
    assert ours.alpha_ == pytest.approx(exact.alpha_)
    assert_same_decisions(ours, exact)
    parts = [X_NEW[:4], X_NEW[4:]]
    assert (
        np.concatenate(list(ours.predict_batches(parts))).tolist() == ours.predict(X_NEW).tolist()
    )
    with pytest.raises(AttributeError, match="landmarks take the place"):
        ours.coef_  # noqa: B018


def test_weights_of_rows():
    y, weight = classes(X), np.linspace(0.0, 2.0, N)
    for alpha in (0.1, "auto"):
        exact = minimizer(alpha=alpha).fit(X, y, weight)
        ours = by_landmarks(alpha=alpha).fit(X, y, weight)
        streamed = by_landmarks(alpha=alpha).fit(blocks(X, y, weight=weight))
        for model in (ours, streamed):
            assert model.alpha_ == pytest.approx(exact.alpha_)
            assert_same_decisions(model, exact)


def test_texts_by_a_kernel_between_strings():
    texts = ["".join(np.random.default_rng(i).choice(list("abc"), 6)) for i in range(30)]
    y = ["a" if text.count("a") > 1 else "b" for text in texts]
    exact = minimizer(kernel=SpectrumKernel(2)).fit(texts, y)
    streamed = by_landmarks(kernel=SpectrumKernel(2)).fit(
        iter([(texts[:20], y[:20]), (texts[20:], y[20:])])
    )
    assert_same_decisions(streamed, exact, texts[:9])


def test_sparse_blocks():
    rows = sparse.random_array((N, 12), density=0.3, rng=np.random.default_rng(0)).tocsr()
    y = np.where(rows.sum(axis=1) > 1.5, "a", "b")
    exact = minimizer().fit(rows, y)
    assert_same_decisions(by_landmarks().fit(blocks(rows, y)), exact, rows[:9])


# ---------------------------------------------------------------------- where rows are from
@pytest.mark.slow
def test_wherever_rows_are_from_the_answer_is_the_same(tmp_path):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    from pyarrow import parquet

    y = classes(X)
    np.save(tmp_path / "X.npy", X)
    table = pandas.DataFrame({**{f"x{j}": X[:, j] for j in range(3)}, "kind": y})
    (tmp_path / "parts").mkdir()
    for i in range(0, N, 15):
        part = pyarrow.Table.from_pandas(table.iloc[i : i + 15])
        parquet.write_table(part, tmp_path / "parts" / f"part-{i:02d}.parquet", row_group_size=4)
    frame = table[["x0", "x1", "x2"]]
    sources = {
        "memmap": ((np.load(tmp_path / "X.npy", mmap_mode="r"), y), X_NEW),
        "parquet": ((tmp_path / "parts", "kind"), None),
        "parquet source": ((ParquetSource(tmp_path / "parts", outputs="kind"),), None),
        "table": ((pyarrow.Table.from_pandas(table), "kind"), None),
        "iterator": ((blocks(X, y),), X_NEW),
        "callable": ((lambda: blocks(X, y, 7),), X_NEW),
        "list of blocks": ((IteratorSource(list(blocks(X, y, 11))),), X_NEW),
        "frames": ((blocks(frame, table["kind"]),), None),
        "arrays": ((ArraySource(X, y),), X_NEW),
    }
    new = pandas.DataFrame(X_NEW, columns=frame.columns)
    for alpha in (0.1, "auto"):
        arrays = by_landmarks(alpha=alpha, n_landmarks=12).fit(X, y)
        for name, (given, rows) in sources.items():
            if name in ("iterator", "frames") and alpha == "auto":
                continue  # they were read
            solver = "nystroem" if name == "memmap" else "auto"
            model = minimizer(alpha=alpha, n_landmarks=12, solver=solver).fit(*given)
            assert model.streamed_, name
            np.testing.assert_array_equal(model.smoother_.landmarks_, arrays.smoother_.landmarks_)
            assert model.alpha_ == pytest.approx(arrays.alpha_)
            found = model.predict_risk(new if rows is None else rows)
            np.testing.assert_allclose(found, arrays.predict_risk(X_NEW), atol=1e-8)
            assert hasattr(model, "feature_names_in_") == (rows is None), name


@pytest.mark.parametrize("device", [None, "cpu"])
def test_blocks_of_tensors(device):
    torch = pytest.importorskip("torch")
    y = label_sets(X)
    rows, outputs = torch.tensor(X), torch.tensor(y)
    right = by_landmarks(LabelSets(), n_landmarks=9).fit(X, y)
    pairs = torch.utils.data.TensorDataset(rows, outputs)
    for given in (
        blocks(rows, outputs),
        ArraySource(rows, outputs),
        torch.utils.data.DataLoader(pairs, batch_size=16),
    ):
        with config_context(device=device):
            model = minimizer(LabelSets(), n_landmarks=9).fit(given)
        np.testing.assert_allclose(model.predict_risk(rows), right.predict_risk(X), atol=1e-8)
    parts = model.predict_batches([rows[:3], rows[:0], rows[3:]])
    np.testing.assert_array_equal(np.concatenate(list(parts)), right.predict(X))


def test_a_sample_chooses_landmarks_and_alpha_and_all_rows_are_learned_from(monkeypatch):
    monkeypatch.setattr(landmarks, "FEWEST_ROWS", 20)
    y = classes(X)
    model = by_landmarks(n_landmarks=5, alpha=[0.01, 1.0]).fit(lambda: blocks(X, y))
    assert len(model.smoother_.sample_[1]) == len(model.outputs_) == 20
    assert model.smoother_.stats_.n == N
    first = by_landmarks(n_landmarks=5).fit(blocks(X, y))
    np.testing.assert_array_equal(first.smoother_.sample_[0], X[:20])
    assert first.smoother_.stats_.n == N
    check = by_landmarks(n_landmarks=5, alpha=[0.01, 1.0]).fit(X, y)
    assert len(check.smoother_.left_out_rows_) == 20
    assert all(np.isfinite(t["risk"]) for t in check.search_.trials)


# ---------------------------------------------------------------------- the choice of alpha
@pytest.mark.slow
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", ["classes", "label sets, F1", "hierarchy", "rankings by pairs"])
def test_alpha_is_chosen_by_the_decoded_loss(name, weighted):
    space, loss, outputs = CASES[name]
    y, alphas = outputs(X), [1e-3, 0.03, 0.3, 3.0, 30.0]
    weight = np.linspace(0.2, 2.0, N) if weighted else None
    model = minimizer(space, loss, alpha=alphas, n_landmarks=8)
    arrays = model.set_params(solver="nystroem").fit(X, y, weight)
    right = [brute_risk(arrays, X, y, alpha, weight) for alpha in alphas[::-1]]
    streamed = by_landmarks(space, loss, alpha=alphas, n_landmarks=8)
    streamed.fit(blocks(X, y, weight=weight))
    for fitted in (arrays, streamed):
        risks = [trial["risk"] for trial in fitted.search_.trials]
        np.testing.assert_allclose(risks, right, atol=1e-9)
        assert fitted.alpha_ == alphas[::-1][int(np.argmin(np.round(right, 9)))]
    partial = by_landmarks(space, loss, alpha=alphas, n_landmarks=8).partial_fit(X, y, weight)
    assert partial.alpha_ == arrays.alpha_
    assert len(set(np.round(right, 9))) > 1


def test_kernels_and_widths_are_compared_where_rows_can_be_read_again():
    y = classes(X)
    shared = {"kernel": [RBF([0.05, 0.5]), "linear"], "alpha": [0.01, 1.0]}
    streamed = by_landmarks(**shared).fit(lambda: blocks(X, y))
    exact = minimizer(**shared).fit(X, y)
    risks = [[t["risk"] for t in model.search_.trials] for model in (streamed, exact)]
    np.testing.assert_allclose(*risks, atol=1e-9)
    assert len(risks[0]) == 6
    for name in ("alpha_", "gamma_", "kernel_"):
        assert getattr(streamed, name) == getattr(exact, name)
<<<<<<< ours
||||||| base


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
        assert start.smoother_.n_judged == len(start.problem_.outputs) == N
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
    assert started.system_ in ("cholesky", "spectral")
    started.partial_fit(X[30:], y[30:], weight[30:])
    anew = by_landmarks(alpha=alpha).partial_fit(X[:30], y[:30], weight[:30])
    anew.partial_fit(X[30:], y[30:], weight[30:])
    assert started.system_ == "nystroem"
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
    for options in ({}, {"smoother": Neighbors(3)}, {"system": "cholesky"}, {"leave_out": 5}):
        options = {"alpha": "auto" if "leave_out" in options else 0.1, **options}
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
            found = list(model.decode_batches(batches, restrict=restrict))
            outputs = np.concatenate([d.outputs for d in found])
            np.testing.assert_array_equal(outputs, whole.outputs)
            values = np.concatenate([d.values for d in found])
            np.testing.assert_allclose(values, whole.values, atol=1e-12)
            bounds = np.concatenate([d.bounds for d in found])
            np.testing.assert_allclose(bounds, whole.bounds, atol=1e-12)
        if batches is parts:
            assert [len(d.outputs) for d in found] == [4, 0, 1, 10]
    assert [len(z) for z in model.predict_batches(parts)] == [4, 0, 1, 10]
    other = list(model.predict_batches(parts, loss="zero_one"))
    np.testing.assert_array_equal(np.concatenate(other), model.predict(X_NEW, loss="zero_one"))


@pytest.mark.parametrize("name", CASES)
def test_a_batch_without_rows_is_predicted_as_nothing(name):
    space, loss, outputs = CASES[name]
    model = by_landmarks(space, loss).fit(X, outputs(X))
    some, none = model.predict_batches([X_NEW[:2], X_NEW[:0]])
    assert len(none) == 0
    assert type(none) is type(some)


def test_frames_keep_their_index(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abc"), index=range(100, 100 + N))
    labels = pandas.DataFrame(label_sets(X), columns=list("wxyz"), index=frame.index)
    model = by_landmarks(LabelSets()).fit(frame, labels)
    parts = list(model.predict_batches([frame[:3], frame[3:3], frame[3:]]))
    pandas.testing.assert_frame_equal(pandas.concat(parts), model.predict(frame))


def test_bad_batches_are_named():
    y = closed_sets(X)
    model = by_landmarks(chain(), "hierarchical").fit(X, y)
    hole = X_NEW[:4].copy()
    hole[1, 1] = np.nan
    bad = [
        (X_NEW[:3, :2], ValueError, "In batch 1: X has 2 features"),
        (hole, ValueError, "In batch 1: Input X contains NaN"),
        ("three", ValueError, "In batch 1: "),
        (None, (ValueError, TypeError), "In batch 1: "),
    ]
    for batch, kind, said in bad:
        given = model.predict_batches([X_NEW[:2], batch, X_NEW])
        assert len(next(given)) == 2
        with pytest.raises(kind, match=said):
            next(given)
    constraints = {"include": [["a"], [], ["a"]]}
    with pytest.raises(ValueError, match="differ from row to row"):
        model.predict_batches([X_NEW[:3], X_NEW[:4]], restrict=constraints)
    with pytest.raises(InfeasibleError, match="In batch 0: "):
        list(model.predict_batches([X_NEW], restrict={"include": ["a"], "max_size": 0}))
    with pytest.raises(TypeError, match="An array is one batch"):
        model.predict_batches(X_NEW).__next__()

    def broken():
        yield X_NEW
        raise OSError("the disk is gone")

    given = model.predict_batches(broken())
    assert len(next(given)) == 15
    with pytest.raises(OSError, match="the disk is gone"):
        next(given)


# ---------------------------------------------------------------------- model files
@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("system", ["nystroem", "fourier"])
@pytest.mark.parametrize("how", ["fit", "source", "partial_fit"])
def test_model_files(device, system, how, tmp_path):
    if device:
        pytest.importorskip("torch")
    y = classes(X)
    model = minimizer(system=system, n_landmarks=12, device=device, alpha="auto")
    if how == "source":
        model.fit(blocks(X, y))
    else:
        getattr(model, how)(X, y)
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


# ---------------------------------------------------------------------- what goes wrong
def spoilt(X, y, how):
    """Blocks of which the fifth is wrong; rows 36 to 44."""
    for number, (rows, outputs) in enumerate(blocks(X, y)):
        if number == 4:
            rows, outputs = rows.copy(), outputs.astype("U9")
            if how == "a hole":
                rows[2, 1] = np.nan
            if how == "a label":
                outputs[3] = "oak"
            if how == "a column":
                rows = rows[:, :2]
            if how == "no outputs":
                yield rows
                continue
            if how == "fewer outputs":
                outputs = outputs[:-1]
        yield rows, outputs


LONG = inputs(90)
SAID = {
    "a hole": r"In rows 36 to 44 \(row 38\): Input X contains NaN",
    "a label": r"In rows 36 to 44 \(row 39\): Classes: Y\[3\] is the label 'oak', which is not one",
    "a column": "block 4 has 2 columns, block 0 has 3",
    "no outputs": "block 4 has no y, and block 0 has one",
    "fewer outputs": "block 4 has 9 rows of X, and 8 of y",
}


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("how", SAID)
def test_a_block_that_is_wrong_is_named(how, again, monkeypatch):
    """Long after the rows from which names and landmarks were learned."""
    monkeypatch.setattr(landmarks, "FEWEST_ROWS", 10)
    y = classes(LONG)
    space = Classes(["ash", "beech", "cedar"])

    def given():
        return spoilt(LONG, y, how)

    model = by_landmarks(space, n_landmarks=2).fit(blocks(LONG, y))
    before = pickle.dumps(model)
    if again and how == "a label":
        # The sample may hold the row itself, and is named then.
        with pytest.raises(ValueError, match=r"In (rows 36|a sample).*Classes: Y\[\d\] is .*'oak'"):
            model.fit(given)
    else:
        with pytest.raises(ValueError, match=SAID[how]):
            model.fit(given if again else given())
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("again", [True, False])
def test_a_hole_in_the_first_rows_is_named(again):
    """Where the sample is all there is, or the rows before."""
    y = classes(LONG)

    def given():
        return spoilt(LONG, y, "a hole")

    said = (
        r"In rows 36 to 44 \(row 38\): Input" if again else r"first 10,000 rows \(row 38\): Input"
    )
    with pytest.raises(ValueError, match=said):
        by_landmarks().fit(given if again else given())


def test_a_hole_in_files_is_named(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = pandas.DataFrame({f"x{j}": LONG[:, j] for j in range(3)})
    table["kind"] = classes(LONG)
    table[:50].to_parquet(tmp_path / "a.parquet")
    table.loc[63, "x1"] = np.nan
    table[50:].reset_index(drop=True).to_parquet(tmp_path / "b.parquet")
    said = r"In rows 0 to 39 of b.parquet \(row 13 of b.parquet\): Input X contains NaN"
    with pytest.raises(ValueError, match=said):
        by_landmarks().fit(tmp_path, "kind")


def test_files_that_end_early(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = pandas.DataFrame({f"x{j}": LONG[:, j] for j in range(3)})
    table["kind"] = classes(LONG)
    table.to_parquet(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    model = by_landmarks().fit(tmp_path, "kind")
    before = pickle.dumps(model)
    (tmp_path / "a.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataFormatError, match=r"a.parquet: .*cut short"):
        model.fit(tmp_path / "a.parquet", "kind")
    (tmp_path / "a.parquet").write_bytes(whole)
    source = ParquetSource(tmp_path, outputs="kind")
    table[:40].to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataFormatError, match=r"a.parquet: .*(changed since|cannot be read)"):
        model.fit(source)
    assert pickle.dumps(model) == before
    with pytest.raises(DataFormatError, match="no column 'colour'"):
        model.fit(tmp_path, "colour")
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(tmp_path)


BAD_FITS = {
    "nothing": (lambda y: [iter([])], {}, "gave no rows"),
    "no rows": (lambda y: [iter([(X[:0], y[:0])])], {}, "gave no rows"),
    "an empty array": (lambda y: [ArraySource(X[:0], y[:0])], {}, "0 sample|no rows"),
    "inputs alone": (lambda y: [iter([X])], {}, r"requires y to be passed.*pairs \(X, y\)"),
    "outputs apart": (lambda y: [blocks(X, y), y], {}, "come with the blocks"),
    "read before": (lambda y: [used_up(y)], {}, "read before.*give a function"),
    "widths": (lambda y: [blocks(X, y)], {"gamma": [0.1, 1.0]}, "read once: give one kernel"),
    "kernels": (lambda y: [blocks(X, y)], {"kernel": ["rbf", "linear"]}, "read once: give one"),
    "exact": (lambda y: [blocks(X, y)], {"system": "cholesky"}, "needs all rows at once"),
    "packed": (lambda y: [blocks(X, y)], {"system": "packed"}, "needs all rows at once"),
    "folds": (lambda y: [blocks(X, y)], {"leave_out": 5}, "read more than once"),
    "groups": (lambda y: [blocks(X, y), None, None, y], {}, "whole parts are left out.*no groups"),
    "smoother": (lambda y: [blocks(X, y)], {"smoother": Neighbors(3)}, "without a smoother"),
    "labels": (lambda y: [blocks(X, y)], {"label_kernel": np.eye(3)}, "without a .*label kernel"),
    "precomputed": (lambda y: [blocks(X, y)], {"kernel": "precomputed"}, "has no landmarks"),
    "alpha": (lambda y: [blocks(X, y)], {"alpha": -1.0}, "alpha must be positive"),
    "memory": (lambda y: [blocks(X, y)], {"memory": "much"}, "memory is a size"),
    "engine": (lambda y: [blocks(X, y)], {"engine": "spark"}, "engine is None"),
    "strings": (lambda y: [iter([(["a", "b"], ["a", "b"])])], {}, "kernel between strings"),
}


def used_up(y):
    source = IteratorSource(blocks(X, y))
    by_landmarks().fit(source)
    return source


@pytest.mark.parametrize("name", BAD_FITS)
def test_fits_that_cannot_be(name):
    given, options, said = BAD_FITS[name]
    y = classes(X)
    model = minimizer(n_landmarks=9).fit(blocks(X, y))
    before = {**model.__dict__}
    model.set_params(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=said):
            model.fit(*given(y))
    model.set_params(**{key: before[key] for key in options})
    assert {**model.__dict__} == before


def test_further_rows_that_are_wrong_leave_the_model_as_it_was():
    y = classes(X)
    model = by_landmarks(n_landmarks=9, alpha="auto").partial_fit(X, y)
    before, hole = pickle.dumps(model), X.copy()
    hole[3, 0] = np.inf
    for rows, outputs, weight, said in (
        (hole, y, None, "infinity"),
        (X[:, :2], y, None, "2 features"),
        (X, y[:-1], None, "inconsistent"),
        (X, np.where(y == "ash", "oak", y), None, "'oak'"),
        (X, None, None, "the target y is None"),
        (X, y, -np.ones(N), "[Nn]egative"),
        (X, y, np.ones(3), "shape"),
    ):
        with pytest.raises(ValueError, match=said):
            model.partial_fit(rows, outputs, weight)
        assert pickle.dumps(model) == before
    fresh = by_landmarks(n_landmarks=9)
    with pytest.raises(ValueError, match="infinity"):
        fresh.partial_fit(hole, y)
    assert not hasattr(fresh, "smoother_")
    assert not hasattr(minimizer(system="cholesky").fit(X, y), "partial_fit")
    with pytest.raises(ValueError, match="takes one kernel and one gamma"):
        by_landmarks(gamma=[0.1, 1.0]).partial_fit(X, y)


def test_one_row_and_one_kind_of_output():
    assert by_landmarks(alpha="auto").fit(iter([(X[:1], ["ash"])])).predict(X[:2]).tolist() == [
        "ash", "ash",
    ]  # fmt: skip
    assert by_landmarks(alpha="auto").partial_fit(X, ["ash"] * N).predict(X[:1]).tolist() == ["ash"]


def test_outputs_seen_later_only_are_no_candidates_of_a_listed_loss(monkeypatch):
    monkeypatch.setattr(landmarks, "FEWEST_ROWS", 10)
    y = label_sets(LONG)
    space = LabelSets(labels=list("wxyz"))
    for loss in ("zero_one", Listed(Hamming())):
        model = by_landmarks(space, loss, n_landmarks=8).fit(blocks(LONG, y))
        listed = {tuple(row) for row in model.outputs_}
        assert {tuple(row) for row in model.predict(LONG)} <= listed
        assert len(listed) < len({tuple(row) for row in y})
=======


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
        assert start.smoother_.n_judged == len(start.problem_.outputs) == N
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
            found = list(model.decode_batches(batches, restrict=restrict))
            outputs = np.concatenate([d.outputs for d in found])
            np.testing.assert_array_equal(outputs, whole.outputs)
            values = np.concatenate([d.values for d in found])
            np.testing.assert_allclose(values, whole.values, atol=1e-12)
            bounds = np.concatenate([d.bounds for d in found])
            np.testing.assert_allclose(bounds, whole.bounds, atol=1e-12)
        if batches is parts:
            assert [len(d.outputs) for d in found] == [4, 0, 1, 10]
    assert [len(z) for z in model.predict_batches(parts)] == [4, 0, 1, 10]
    other = list(model.predict_batches(parts, loss="zero_one"))
    np.testing.assert_array_equal(np.concatenate(other), model.predict(X_NEW, loss="zero_one"))


@pytest.mark.parametrize("name", CASES)
def test_a_batch_without_rows_is_predicted_as_nothing(name):
    space, loss, outputs = CASES[name]
    model = by_landmarks(space, loss).fit(X, outputs(X))
    some, none = model.predict_batches([X_NEW[:2], X_NEW[:0]])
    assert len(none) == 0
    assert type(none) is type(some)


def test_frames_keep_their_index(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abc"), index=range(100, 100 + N))
    labels = pandas.DataFrame(label_sets(X), columns=list("wxyz"), index=frame.index)
    model = by_landmarks(LabelSets()).fit(frame, labels)
    parts = list(model.predict_batches([frame[:3], frame[3:3], frame[3:]]))
    pandas.testing.assert_frame_equal(pandas.concat(parts), model.predict(frame))


def test_bad_batches_are_named():
    y = closed_sets(X)
    model = by_landmarks(chain(), "hierarchical").fit(X, y)
    hole = X_NEW[:4].copy()
    hole[1, 1] = np.nan
    bad = [
        (X_NEW[:3, :2], ValueError, "In batch 1: X has 2 features"),
        (hole, ValueError, "In batch 1: Input X contains NaN"),
        ("three", ValueError, "In batch 1: "),
        (None, (ValueError, TypeError), "In batch 1: "),
    ]
    for batch, kind, said in bad:
        given = model.predict_batches([X_NEW[:2], batch, X_NEW])
        assert len(next(given)) == 2
        with pytest.raises(kind, match=said):
            next(given)
    constraints = {"include": [["a"], [], ["a"]]}
    with pytest.raises(ValueError, match="differ from row to row"):
        model.predict_batches([X_NEW[:3], X_NEW[:4]], restrict=constraints)
    with pytest.raises(InfeasibleError, match="In batch 0: "):
        list(model.predict_batches([X_NEW], restrict={"include": ["a"], "max_size": 0}))
    with pytest.raises(TypeError, match="An array is one batch"):
        model.predict_batches(X_NEW).__next__()

    def broken():
        yield X_NEW
        raise OSError("the disk is gone")

    given = model.predict_batches(broken())
    assert len(next(given)) == 15
    with pytest.raises(OSError, match="the disk is gone"):
        next(given)


# ---------------------------------------------------------------------- model files
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


# ---------------------------------------------------------------------- what goes wrong
def spoilt(X, y, how):
    """Blocks of which the fifth is wrong; rows 36 to 44."""
    for number, (rows, outputs) in enumerate(blocks(X, y)):
        if number == 4:
            rows, outputs = rows.copy(), outputs.astype("U9")
            if how == "a hole":
                rows[2, 1] = np.nan
            if how == "a label":
                outputs[3] = "oak"
            if how == "a column":
                rows = rows[:, :2]
            if how == "no outputs":
                yield rows
                continue
            if how == "fewer outputs":
                outputs = outputs[:-1]
        yield rows, outputs


LONG = inputs(90)
SAID = {
    "a hole": r"In rows 36 to 44 \(row 38\): Input X contains NaN",
    "a label": r"In rows 36 to 44 \(row 39\): Classes: Y\[3\] is the label 'oak', which is not one",
    "a column": "block 4 has 2 columns, block 0 has 3",
    "no outputs": "block 4 has no y, and block 0 has one",
    "fewer outputs": "block 4 has 9 rows of X, and 8 of y",
}


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("how", SAID)
def test_a_block_that_is_wrong_is_named(how, again, monkeypatch):
    """Long after the rows from which names and landmarks were learned."""
    monkeypatch.setattr(landmarks, "FEWEST_ROWS", 10)
    y = classes(LONG)
    space = Classes(["ash", "beech", "cedar"])

    def given():
        return spoilt(LONG, y, how)

    model = by_landmarks(space, n_landmarks=2).fit(blocks(LONG, y))
    before = pickle.dumps(model)
    if again and how == "a label":
        # The sample may hold the row itself, and is named then.
        with pytest.raises(ValueError, match=r"In (rows 36|a sample).*Classes: Y\[\d\] is .*'oak'"):
            model.fit(given)
    else:
        with pytest.raises(ValueError, match=SAID[how]):
            model.fit(given if again else given())
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("again", [True, False])
def test_a_hole_in_the_first_rows_is_named(again):
    """Where the sample is all there is, or the rows before."""
    y = classes(LONG)

    def given():
        return spoilt(LONG, y, "a hole")

    said = (
        r"In rows 36 to 44 \(row 38\): Input" if again else r"first 10,000 rows \(row 38\): Input"
    )
    with pytest.raises(ValueError, match=said):
        by_landmarks().fit(given if again else given())


def test_a_hole_in_files_is_named(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = pandas.DataFrame({f"x{j}": LONG[:, j] for j in range(3)})
    table["kind"] = classes(LONG)
    table[:50].to_parquet(tmp_path / "a.parquet")
    table.loc[63, "x1"] = np.nan
    table[50:].reset_index(drop=True).to_parquet(tmp_path / "b.parquet")
    said = r"In rows 0 to 39 of b.parquet \(row 13 of b.parquet\): Input X contains NaN"
    with pytest.raises(ValueError, match=said):
        by_landmarks().fit(tmp_path, "kind")


def test_files_that_end_early(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = pandas.DataFrame({f"x{j}": LONG[:, j] for j in range(3)})
    table["kind"] = classes(LONG)
    table.to_parquet(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    model = by_landmarks().fit(tmp_path, "kind")
    before = pickle.dumps(model)
    (tmp_path / "a.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataFormatError, match=r"a.parquet: .*cut short"):
        model.fit(tmp_path / "a.parquet", "kind")
    (tmp_path / "a.parquet").write_bytes(whole)
    source = ParquetSource(tmp_path, outputs="kind")
    table[:40].to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataFormatError, match=r"a.parquet: .*(changed since|cannot be read)"):
        model.fit(source)
    assert pickle.dumps(model) == before
    with pytest.raises(DataFormatError, match="no column 'colour'"):
        model.fit(tmp_path, "colour")
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(tmp_path)


BAD_FITS = {
    "nothing": (lambda y: [iter([])], {}, "gave no rows"),
    "no rows": (lambda y: [iter([(X[:0], y[:0])])], {}, "gave no rows"),
    "an empty array": (lambda y: [ArraySource(X[:0], y[:0])], {}, "0 sample|no rows"),
    "inputs alone": (lambda y: [iter([X])], {}, r"requires y to be passed.*pairs \(X, y\)"),
    "outputs apart": (lambda y: [blocks(X, y), y], {}, "come with the blocks"),
    "read before": (lambda y: [used_up(y)], {}, "read before.*give a function"),
    "widths": (lambda y: [blocks(X, y)], {"kernel": RBF([0.1, 1.0])}, "read once: give one kernel"),
    "kernels": (lambda y: [blocks(X, y)], {"kernel": ["rbf", "linear"]}, "read once: give one"),
    "exact": (lambda y: [blocks(X, y)], {"solver": "cholesky"}, "needs all rows at once"),
    "packed": (lambda y: [blocks(X, y)], {"solver": "packed"}, "needs all rows at once"),
    "folds": (lambda y: [blocks(X, y)], {"cv": 5}, "read more than once"),
    "groups": (lambda y: [blocks(X, y), None, None, y], {}, "whole parts are left out.*no groups"),
    "smoother": (lambda y: [blocks(X, y)], {"smoother": Neighbors(3)}, "without a smoother"),
    "labels": (
        lambda y: [blocks(X, y)],
        {"smoother": AdditiveKernelRidge(np.eye(3), alpha="auto")},
        "without a smoother",
    ),
    "precomputed": (lambda y: [blocks(X, y)], {"kernel": "precomputed"}, "has no landmarks"),
    "alpha": (lambda y: [blocks(X, y)], {"alpha": -1.0}, "alpha must be positive"),
    "strings": (lambda y: [iter([(["a", "b"], ["a", "b"])])], {}, "kernel between strings"),
}


def used_up(y):
    source = IteratorSource(blocks(X, y))
    by_landmarks().fit(source)
    return source


@pytest.mark.parametrize("name", BAD_FITS)
def test_fits_that_cannot_be(name):
    given, options, said = BAD_FITS[name]
    y = classes(X)
    model = minimizer(n_landmarks=9).fit(blocks(X, y))
    before = {**model.__dict__}
    model.set_params(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=said):
            model.fit(*given(y))
    model.set_params(**{key: before[key] for key in options})
    assert {**model.__dict__} == before


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"memory": "much"}, "memory is a size"), ({"engine": "spark"}, "engine is")],
)
def test_settings_that_cannot_be(settings, said):
    y = classes(X)
    model = minimizer(n_landmarks=9).fit(blocks(X, y))
    before = {**model.__dict__}
    with pytest.raises(ValueError, match=said), config_context(**settings):
        model.fit(blocks(X, y))
    assert {**model.__dict__} == before


def test_further_rows_that_are_wrong_leave_the_model_as_it_was():
    y = classes(X)
    model = by_landmarks(n_landmarks=9, alpha="auto").partial_fit(X, y)
    before, hole = pickle.dumps(model), X.copy()
    hole[3, 0] = np.inf
    for rows, outputs, weight, said in (
        (hole, y, None, "infinity"),
        (X[:, :2], y, None, "2 features"),
        (X, y[:-1], None, "inconsistent"),
        (X, np.where(y == "ash", "oak", y), None, "'oak'"),
        (X, None, None, "the target y is None"),
        (X, y, -np.ones(N), "[Nn]egative"),
        (X, y, np.ones(3), "shape"),
    ):
        with pytest.raises(ValueError, match=said):
            model.partial_fit(rows, outputs, weight)
        assert pickle.dumps(model) == before
    fresh = by_landmarks(n_landmarks=9)
    with pytest.raises(ValueError, match="infinity"):
        fresh.partial_fit(hole, y)
    assert not hasattr(fresh, "smoother_")
    assert not hasattr(minimizer(solver="cholesky").fit(X, y), "partial_fit")
    with pytest.raises(ValueError, match="takes one kernel and one gamma"):
        by_landmarks(kernel=RBF([0.1, 1.0])).partial_fit(X, y)


def test_one_row_and_one_kind_of_output():
    assert by_landmarks(alpha="auto").fit(iter([(X[:1], ["ash"])])).predict(X[:2]).tolist() == [
        "ash", "ash",
    ]  # fmt: skip
    assert by_landmarks(alpha="auto").partial_fit(X, ["ash"] * N).predict(X[:1]).tolist() == ["ash"]


def test_outputs_seen_later_only_are_no_candidates_of_a_listed_loss(monkeypatch):
    monkeypatch.setattr(landmarks, "FEWEST_ROWS", 10)
    y = label_sets(LONG)
    space = LabelSets(labels=list("wxyz"))
    for loss in ("zero_one", Listed(Hamming())):
        model = by_landmarks(space, loss, n_landmarks=8).fit(blocks(LONG, y))
        listed = {tuple(row) for row in model.outputs_}
        assert {tuple(row) for row in model.predict(LONG)} <= listed
        assert len(listed) < len({tuple(row) for row in y})
>>>>>>> theirs
