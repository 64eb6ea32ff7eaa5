# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong in a stream of blocks is named by its place, and leaves the model as it was."""

import pickle
import warnings

import numpy as np
import pytest

from learners.stream_cases import (
    N,
    classes,
    inputs,
    label_sets,
)
from learners.stream_decisions import (
    X,
    blocks,
    by_landmarks,
    minimizer,
)
from skstruct import config_context
from skstruct.exceptions import DataFormatError
from skstruct.kernels import RBF
from skstruct.losses import Hamming, Listed
from skstruct.smoothing import AdditiveKernelRidge, Neighbors
from skstruct.smoothing.nystroem import landmarks
from skstruct.spaces import Classes, LabelSets
from skstruct.streaming import ArraySource, IteratorSource, ParquetSource


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
