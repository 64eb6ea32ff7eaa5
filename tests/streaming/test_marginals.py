# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of labels beside predictions of batches and files."""

import pickle

import numpy as np
import pytest

from learners.stream_cases import (
    classes,
    closed_sets,
    inputs,
    label_sets,
    rankings,
    symbols,
    tokens,
)
from skstruct import ConditionalRiskMinimizer, StructuredSVM
from skstruct.fitted import Staged
from skstruct.kernels import RBF
from skstruct.spaces import Hierarchy, LabelSets, Ordinal, Rankings, Sequences
from skstruct.streaming import ArraySource, predict_batches, predict_parquet
from skstruct.streaming.marginals import MarginalColumns

pyarrow = pytest.importorskip("pyarrow")
pandas = pytest.importorskip("pandas")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

X, X_NEW = inputs(), inputs(15, seed=1)
CASES = {
    "classes": (None, classes(X), ["ash", "beech", "cedar"]),
    "levels": (Ordinal(["ash", "beech", "cedar"]), classes(X), ["ash", "beech", "cedar"]),
    "labels": (LabelSets(), label_sets(X), range(4)),
    "hierarchy": (Hierarchy([("a", "b"), ("b", "c")]), closed_sets(X), "abc"),
}


def fitted(space, y, X=X):
    return ConditionalRiskMinimizer(space, alpha=0.1, kernel=RBF(0.5)).fit(X, y).calibrate(X, y)


def columns_in(folder):
    return dataset.dataset(folder).to_table().to_pydict()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "levels")) for name in CASES]
)
def test_files_have_a_column_for_every_name(tmp_path, name):
    space, y, names = CASES[name]
    model = fitted(space, y)
    assert predict_parquet(model, X_NEW, tmp_path, n_partitions=3, marginals=True) == len(X_NEW)
    found = columns_in(tmp_path)
    own = [f"P({label})" for label in names]
    assert list(found)[-len(own) :] == own
    right = model.predict_marginals(X_NEW)
    np.testing.assert_allclose(np.transpose([found[name] for name in own]), right, atol=1e-12)
    assert {"row", "risk", "bound"} <= set(found)


def test_a_file_of_named_columns(tmp_path):
    frame = pandas.DataFrame(X, columns=list("uvw"))
    model = fitted(LabelSets("wxyz"), label_sets(X), frame)
    new = pandas.DataFrame(X_NEW, columns=list("uvw"))
    parquet.write_table(pyarrow.table(new), tmp_path / "new.parquet")
    restrict = {"include": ["x"]}
    predict_parquet(
        model, tmp_path / "new.parquet", tmp_path / "out", marginals=True, restrict=restrict
    )
    found = columns_in(tmp_path / "out")
    right = model.predict_marginals(new, restrict=restrict)
    assert found["P(x)"] == [1.0] * len(X_NEW)
    np.testing.assert_allclose(found["P(w)"], right["w"], atol=1e-12)


def test_batches_are_pairs():
    model = fitted(LabelSets("wxyz"), label_sets(X))
    batches = [X_NEW[:4], X_NEW[4:4], X_NEW[4:]]
    outputs, marginals = zip(*predict_batches(model, batches, marginals=True))
    np.testing.assert_array_equal(np.concatenate(outputs), model.predict(X_NEW))
    assert [part.shape for part in marginals] == [(4, 4), (0, 4), (11, 4)]
    np.testing.assert_allclose(np.concatenate(marginals), model.predict_marginals(X_NEW))


def test_batches_of_other_shapes():
    model = fitted(Rankings("abcd"), rankings(X))
    ((_, marginals),) = predict_batches(model, [X_NEW], marginals=True)
    assert marginals.shape == (15, 4, 4)
    sequences = tokens(X)
    tagger = ConditionalRiskMinimizer(Sequences(), alpha=0.1).fit(sequences, symbols(sequences))
    ((tags, marginals),) = predict_batches(tagger, [tokens(X_NEW)], marginals=True)
    assert [len(part) for part in marginals] == [len(part) for part in tags]


def test_what_has_no_columns(tmp_path):
    with pytest.raises(ValueError, match=r"outputs of Rankings have none. Use predict_batches"):
        predict_parquet(fitted(Rankings("abcd"), rankings(X)), X_NEW, tmp_path, marginals=True)
    margins = StructuredSVM(LabelSets(), alpha=0.1, max_iter=2000).fit(X, label_sets(X))
    with pytest.raises(ValueError, match=r"^In rows 0 to 14: .*call calibrate"):
        predict_parquet(margins, X_NEW, tmp_path, marginals=True)
    assert list(tmp_path.iterdir()) == []

    class Bare:
        def predict(self, X):
            return X

    with pytest.raises(TypeError, match="Bare has no predict_marginals"):
        predict_parquet(Bare(), X_NEW, tmp_path, marginals=True)
    with pytest.raises(TypeError, match="Bare has no predict_marginals"):
        predict_batches(Bare(), [X_NEW], marginals=True)


def test_columns_can_be_sent():
    model = fitted(*CASES["classes"][:2])
    columns = MarginalColumns(Staged.of(model).columns({}), model, {})
    (block,) = ArraySource(X_NEW).partitions(1)[0].blocks(100)
    found, right = pickle.loads(pickle.dumps(columns))(block), columns(block)
    assert list(found) == list(right)
    np.testing.assert_array_equal(found["P(ash)"], right["P(ash)"])
