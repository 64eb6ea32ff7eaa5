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
from learners.stream_decisions import (
    X_NEW,
    X,
    assert_same_decisions,
    blocks,
    brute_risk,
    by_landmarks,
    minimizer,
)
from skstruct import OutputKernelRegressor, config_context
from skstruct.kernels import RBF, SpectrumKernel
from skstruct.smoothing.nystroem import landmarks
from skstruct.spaces import Interval, LabelSets, Sequences
from skstruct.streaming import ArraySource, IteratorSource, ParquetSource, predict_batches


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
    decided = [z for batch in predict_batches(ours, batches) for z in batch]
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
        np.concatenate(list(predict_batches(ours, parts))).tolist() == ours.predict(X_NEW).tolist()
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
    parts = predict_batches(model, [rows[:3], rows[:0], rows[3:]])
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
