# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the contract with scikit-learn: each takes a case and a generator, and raises.

CHECKS has them by name. KNOWN says of (check, learner) why it cannot hold.
"""

import copy
import inspect
import pickle

import joblib
import numpy as np
import pandas as pd
from learner_cases import draw
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from skstruct.encoding import TableEncoder


class Skipped(Exception):
    """A check that does not apply, with the reason."""


def assert_same(one, other, what):
    """Labels are equal; quantities up to rounding."""
    one, other = list(one), list(other)
    assert len(one) == len(other), f"{what}: {len(one)} and {len(other)} rows"
    for i, (a, b) in enumerate(zip(one, other)):
        if isinstance(a, (float, np.floating)) or getattr(a, "dtype", None) == np.float64:
            assert np.allclose(a, b, rtol=1e-5, atol=1e-5), f"{what}: row {i} is {a}, not {b}"
        else:
            assert np.array_equal(a, b), f"{what}: row {i} is {a}, not {b}"


def rows_only(case):
    if case.kind == "sequences":
        raise Skipped("inputs are sequences of rows, not a table")


def takes_weights(model):
    if "sample_weight" not in inspect.signature(model.fit).parameters:
        raise Skipped(f"{type(model).__name__}.fit takes no weights")


def taken(rows, order):
    return rows[order] if isinstance(rows, np.ndarray) else [rows[i] for i in order]


def parameters(case, rng):
    """fit changes no parameter, not within either; clones have the same, and are not fitted."""
    data, model = draw(case.kind, rng), case.make()
    before, objects = joblib.hash(model.get_params()), model.get_params(deep=False)
    assert model.fit(data.X, data.y) is model, "fit returns another object"
    for name, value in model.get_params(deep=False).items():
        assert value is objects[name], f"fit gives another {name}"
    assert joblib.hash(model.get_params()) == before, "fit changes what a parameter holds"
    other = clone(model)
    assert joblib.hash(other.get_params()) == before, "a clone has other parameters"
    assert joblib.hash(clone(other).set_params(**other.get_params()).get_params()) == before
    try:
        check_is_fitted(other)
    except NotFittedError:
        pass
    else:
        raise AssertionError("a clone is fitted")
    assert_same(other.fit(data.X, data.y).predict(data.new), model.predict(data.new), "clone")


def pickled(case, rng):
    """Pickles and copies predict the same, fitted before or after."""
    data, model = draw(case.kind, rng), case.make()
    early = pickle.loads(pickle.dumps(model)).fit(data.X, data.y)
    expected = model.fit(data.X, data.y).predict(data.new)
    for way, other in (
        ("pickled, then fitted", early),
        ("fitted, then pickled", pickle.loads(pickle.dumps(model))),
        ("fitted, then copied", copy.deepcopy(model)),
    ):
        assert_same(other.predict(data.new), expected, way)


def inputs_untouched(case, rng):
    """Inputs may be read-only, and are as they were."""
    data = draw(case.kind, rng)
    before = joblib.hash((data.X, data.y, data.new))
    for rows in data.X if case.kind == "sequences" else (data.X, data.new):
        rows.setflags(write=False)
    case.make().fit(data.X, data.y).predict(data.new)
    assert joblib.hash((data.X, data.y, data.new)) == before, "inputs are changed"


def fitted_again(case, rng):
    """A second fit knows nothing of the first."""
    data, other, model = draw(case.kind, rng), draw(case.kind, rng), case.make()
    expected = case.make().fit(data.X, data.y).predict(data.new)
    model.fit(other.X, other.y)
    assert_same(model.fit(data.X, data.y).predict(data.new), expected, "fitted again")


def sharp(model):
    """Solved until scores are known so well that a gap settles nothing, as it does by default."""
    own = model.get_params(deep=False)
    steps = {"tol": 1e-7, "max_iter": 100_000}
    return model.set_params(**{name: value for name, value in steps.items() if name in own})


def weights_are_rows(case, rng):
    """A row of weight two is the row twice, and of weight zero no row."""
    data, model = draw(case.kind, rng, grid=False), sharp(case.make())
    takes_weights(model)
    times = rng.integers(1, 4, len(data.X))
    rows = np.repeat(np.arange(len(data.X)), times)
    weighted = model.fit(data.X, data.y, sample_weight=times.astype(float))
    written = sharp(case.make()).fit(taken(data.X, rows), taken(data.y, rows))
    assert_same(weighted.predict(data.new), written.predict(data.new), "weights")


def weights_of_one(case, rng):
    """They are as good as none."""
    data, model = draw(case.kind, rng), case.make()
    takes_weights(model)
    expected = case.make().fit(data.X, data.y).predict(data.new)
    model.fit(data.X, data.y, sample_weight=np.ones(len(data.X)))
    assert_same(model.predict(data.new), expected, "weights of one")


def output_set(case, rng):
    """Steps before that give frames: the learner reads their numbers, and knows their names."""
    rows_only(case)
    data = draw(case.kind, rng)
    expected = make_pipeline(StandardScaler(), case.make()).fit(data.X, data.y).predict(data.new)
    for library in ("pandas", "polars"):
        for step in (StandardScaler(), TableEncoder()):
            step.set_output(transform=library)
            frame = step.fit_transform(data.X)
            assert type(frame).__module__.startswith(library), f"{step} gives {type(frame)}"
            assert list(frame.columns) == list(step.get_feature_names_out())
        model = make_pipeline(StandardScaler().set_output(transform=library), case.make())
        found = model.fit(data.X, data.y).predict(data.new)
        assert_same(np.asarray(found), expected, library)
        assert len(model[-1].feature_names_in_) == data.X.shape[1]


def routed(case, rng):
    """Weights reach the learner through a pipeline, if and only if it asks for them."""
    rows_only(case)
    data = draw(case.kind, rng)
    takes_weights(case.make())
    weight = rng.integers(1, 4, len(data.X)).astype(float)
    scaler = StandardScaler().fit(data.X)
    X, new = scaler.transform(data.X), scaler.transform(data.new)
    with config_context(enable_metadata_routing=True):
        for asked in (True, False):
            step = StandardScaler().set_fit_request(sample_weight=False)
            model = case.make().set_fit_request(sample_weight=asked)
            pipe = make_pipeline(step, model)
            more = {"sample_weight": weight} if asked else {}
            found = pipe.fit(data.X, data.y, **more).predict(data.new)
            direct = case.make().fit(X, data.y, **more).predict(new)
            assert_same(found, direct, f"routed: {asked}")
        try:
            make_pipeline(StandardScaler(), case.make()).fit(data.X, data.y, sample_weight=weight)
        except (TypeError, ValueError):
            return
    raise AssertionError("weights that nobody asked for are taken")


def mixed_frame(X, rng):
    """Names, gaps, yes and no beside numbers."""
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    frame.loc[rng.random(len(X)) < 0.2, "x0"] = np.nan
    frame["kind"] = np.where(X[:, 1] > 0, "I", "ı")
    frame["yes"] = X[:, 2] > 0
    frame["many"] = (4 * X[:, 3]).astype(np.int64)
    return frame


def nullable(frame):
    return frame.convert_dtypes(dtype_backend="numpy_nullable")


def categorical(frame):
    return frame.assign(kind=pd.Categorical(frame["kind"], ["ı", "I", "never"]))


def in_polars(frame):
    import polars

    gaps = {"x0": [None if np.isnan(v) else v for v in frame["x0"]]}
    return polars.DataFrame({name: frame[name].tolist() for name in frame} | gaps)


def in_arrow(frame):
    import pyarrow

    return pyarrow.Table.from_pandas(frame, preserve_index=False)


def frames(convert):
    """A check that frames of another kind are read as those of plain columns are."""

    def check(case, rng):
        rows_only(case)
        data = draw(case.kind, rng)
        X, new = mixed_frame(data.X, rng), mixed_frame(data.new, rng)
        plain = case.make().fit(X, data.y)
        expected = np.asarray(plain.predict(new))
        model = case.make().fit(convert(X), data.y)
        assert list(model.feature_names_in_) == list(X.columns), "names of columns"
        assert model.n_features_in_ == X.shape[1]
        assert_same(np.asarray(model.predict(convert(new))), expected, "fitted and asked")
        assert_same(np.asarray(plain.predict(convert(new))), expected, "asked")

    return check


CHECKS = {
    "parameters": parameters,
    "pickles and copies": pickled,
    "inputs untouched": inputs_untouched,
    "fitted again": fitted_again,
    "weights are rows": weights_are_rows,
    "weights of one": weights_of_one,
    "set_output": output_set,
    "metadata routing": routed,
    "nullable frames": frames(nullable),
    "categorical frames": frames(categorical),
    "polars": frames(in_polars),
    "arrow": frames(in_arrow),
}
VISITS = "rows come in random order: a row twice is two visits, at other times"
KNOWN = {
    ("weights are rows", name): reason
    for reason, names in {
        VISITS: ("perceptron, label sets", "perceptron, rankings", "rankings online"),
        "landmarks are drawn among the rows": ("risk, landmarks",),
        "folds and trees draw rows by their number": ("risk, weighed smoothers",),
        "trees settle equally good splits by rounding": ("rankings by boosting",),
    }.items()
    for name in names
}  # fmt: skip
