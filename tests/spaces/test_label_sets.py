# SPDX-License-Identifier: BSD-3-Clause
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import LabelSets, Uniform
from skstruct.spaces.label_sets.uniform import FreeSubsets
from skstruct.testing import check_space
from strategies import subsets


@pytest.mark.parametrize("d", [1, 2, 5])
def test_all_subsets(d):
    check_space(LabelSets(range(d)), subsets(d))


@pytest.mark.slow
@given(st.data())
def test_constraints_against_enumeration(data):
    d = data.draw(st.integers(1, 5))
    name = st.integers(0, d - 1)
    include = data.draw(st.lists(name, max_size=2, unique=True))
    exclude = data.draw(st.lists(name, max_size=2, unique=True))
    low = data.draw(st.integers(0, d))
    high = data.draw(st.integers(0, d))
    groups = (
        data.draw(st.lists(st.lists(name, min_size=2, max_size=3, unique=True), max_size=2))
        if d > 2
        else []
    )
    space = LabelSets(range(d), min_size=low, max_size=high)
    space = space.restrict(include=include, exclude=exclude, exclusive=groups)
    rows = [
        row
        for row in subsets(d)
        if row[include].all()
        and not row[exclude].any()
        and low <= row.sum() <= high
        and all(row[group].sum() <= 1 for group in groups)
    ]
    if rows:
        check_space(space, np.array(rows))
    else:
        assert space.size() == 0
        with pytest.raises(InfeasibleError):
            space.argmin(np.ones((1, d)))


def test_exactly_k_is_the_moment_formula():
    d, k = 6, 2
    space = LabelSets(range(d), min_size=k, max_size=k)
    rows = np.array([[j in pair for j in range(d)] for pair in combinations(range(d), k)])
    mean = rows.mean(axis=0)
    covariance = Uniform.of(space).second_moment() - np.outer(mean, mean)
    expected = k * (d - k) / (d * (d - 1)) * (np.eye(d) - np.ones((d, d)) / d)
    np.testing.assert_allclose(covariance, expected, atol=1e-12)


def test_a_thousand_labels_do_not_overflow():
    space = LabelSets(range(1000), max_size=500)
    assert space.size() == (2**1000 + int(np.round(0)) + _middle(1000)) // 2
    assert np.isfinite(Uniform.of(space).second_moment()).all()
    assert space.sample(5, 0).sum(axis=1).max() <= 500


def _middle(d):
    ways = 1
    for s in range(d // 2):
        ways = ways * (d - s) // (s + 1)
    return ways


FORMS = {
    "array": np.array([[1, 0, 1], [0, 0, 0]]),
    "bool": np.array([[True, False, True], [False, False, False]]),
    "float": np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
    "sparse": sparse.csr_array(np.array([[1, 0, 1], [0, 0, 0]])),
    "frame": pd.DataFrame([[1, 0, 1], [0, 0, 0]], columns=["x", "y", "z"]),
    "sets": [{"x", "z"}, set()],
    "lists": [["x", "z"], []],
    "series": pd.Series([{"x", "z"}, set()], index=["u", "v"]),
}


@pytest.mark.parametrize("format", FORMS)
def test_the_same_format_comes_back(format):
    Y = FORMS[format]
    space = (
        LabelSets()
        if format in ("array", "bool", "float", "sparse")
        else LabelSets(["x", "y", "z"])
    )
    Z = space.fit(Y).validate(Y)
    assert Z.dtype == np.int8
    assert Z.tolist() == [[1, 0, 1], [0, 0, 0]]
    back = space.restore(Z, index=getattr(Y, "index", None))
    if format == "frame":
        pd.testing.assert_frame_equal(back, Y)
    elif format == "series":
        pd.testing.assert_series_equal(back, Y)
    elif format == "sparse":
        assert (back != Y).nnz == 0
    elif isinstance(Y, np.ndarray):
        assert back.dtype == Y.dtype
        np.testing.assert_array_equal(back, Y)
    else:
        assert list(back) == Y


def test_columns_are_matched_by_name():
    space = LabelSets().fit(FORMS["frame"])
    shuffled = FORMS["frame"][["z", "x", "y"]]
    np.testing.assert_array_equal(space.validate(shuffled), space.validate(FORMS["frame"]))


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.array([[0, 1], [3, 1]]), r"Y\[1, 0\] is.*3.*Use Classes"),
        (np.array([[0.0, np.nan]]), r"Y\[0, 1\] is.*nan"),
        (np.zeros((0, 2)), "no rows"),
        (np.zeros((2, 0)), "no columns"),
        ([], "no rows"),
        ([set(), set()], "no label occurs"),
        (["cat", "dog"], r"Y\[0\] is 'cat'.*Use Classes"),
        (np.zeros((2, 2, 2)), "one row per sample"),
    ],
)
def test_bad_outputs_are_named(Y, message):
    with pytest.raises(ValueError, match=message):
        LabelSets().fit(Y)


def test_unfitted_space_says_so():
    with pytest.raises(ValueError, match="call fit, or give labels"):
        LabelSets().size()


def test_wrong_columns():
    space = LabelSets().fit(FORMS["frame"])
    with pytest.raises(ValueError, match=r"missing: \['z'\], unknown: \['w'\]"):
        space.validate(FORMS["frame"].rename(columns={"z": "w"}))
    with pytest.raises(ValueError, match=r"\(n_samples, 3\)"):
        space.validate(np.zeros((1, 2)))


def test_changed_parameters_are_counted_anew():
    space = LabelSets(list("wxyz"))
    assert space.size() == 16
    assert space.set_params(max_size=1).size() == 5
    np.testing.assert_allclose(Uniform.of(space).mean_embedding(), 0.2)
    assert space.set_params(labels=list("ab"), max_size=None).size() == 4


def test_frames_keep_their_own_columns_and_types():
    frame = pd.DataFrame([[1, 0], [0, 1]], columns=pd.Index(["z", "x"], name="label"))
    for dtype in ("Int64", "boolean", "category", "float32"):
        typed = frame.astype(dtype)
        space = LabelSets(["x", "z"]).fit(typed)
        pd.testing.assert_frame_equal(space.restore(space.validate(typed), typed.index), typed)
    with pytest.raises(ValueError, match="row 1, column 'z' of Y is missing"):
        LabelSets().fit(frame.astype("Int64").where(frame == frame.iloc[0]))
    series = pd.Series([{"x"}, set()], name="tags")
    space = LabelSets(["x"]).fit(series)
    pd.testing.assert_series_equal(space.restore(space.validate(series), series.index), series)


def test_masks_in_frames_are_matched_by_name():
    mask = pd.DataFrame([[1, 0, 0]], columns=list("zyx"))
    narrowed = LabelSets(list("xyz")).restrict(include=mask)
    assert narrowed.argmin(np.ones((1, 3))).outputs.tolist() == [[0, 0, 1]]


def test_empty_spaces_and_wrong_shapes_are_named():
    empty = LabelSets(list("ab")).restrict(include=["a"], exclude=["a"])
    for ask in (
        Uniform.of(empty).mean_embedding,
        Uniform.of(empty).second_moment,
        lambda: empty.sample(1, 0),
    ):
        with pytest.raises(InfeasibleError, match="no output"):
            ask()
    with pytest.raises(ValueError, match=r"\(n, 2\) of 0 and 1; got shape \(3,\)"):
        LabelSets(list("ab")).contains(np.zeros(3))
    learned = LabelSets().fit(np.zeros((1, 3), int)).restrict(max_size=1)
    with pytest.raises(ValueError, match=r"shape \(n_samples, 3\), one column per label"):
        learned.fit(np.zeros((1, 2), int))


def test_refitting_forgets_the_old_labels():
    space = LabelSets().fit(np.zeros((1, 3), int))
    assert space.size() == 8
    assert space.fit(np.zeros((1, 5), int)).size() == 32


def test_constraints_and_sizes_hold_together():
    constraints = LabelSets("abc").restrict(include=["a"], max_size=2).constraints
    assert LabelSets("abc", max_size=1, constraints=constraints).enumerate().tolist() == [[1, 0, 0]]
    assert LabelSets("abc", min_size=2, max_size=3, constraints=constraints).size() == 2


def test_many_free_labels_are_counted_at_once(monkeypatch):
    monkeypatch.setattr(FreeSubsets, "ways", property(lambda self: pytest.fail("all binomials")))
    space = LabelSets(range(10**5))
    assert Uniform.of(space).covariance().eigenvalues.tolist() == [0.25]
    assert LabelSets("abc").restrict(include=["a"]).size() == 4
    assert LabelSets("abc", min_size=1).restrict(include=["a"]).size() == 4
