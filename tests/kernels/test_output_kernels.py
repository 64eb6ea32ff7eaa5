# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between outputs against their definitions, and their costs against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct.kernels import (
    RBF,
    BlendedSpectrumKernel,
    Dirac,
    EdgeKernel,
    HammingKernel,
    PathKernel,
    ProductKernel,
    SpectrumKernel,
    SumKernel,
    WeightedDegreeKernel,
    resolve_output_kernel,
)
from skstruct.kernels.outputs.codes import count_matches
from skstruct.kernels.outputs.precomputed import check_definite

NAN = float("nan")
STRINGS = st.lists(st.text("abc", max_size=5), min_size=1, max_size=12)
PATHS = st.lists(st.lists(st.sampled_from("xyz"), max_size=4), min_size=1, max_size=12)
SETS = st.lists(st.frozensets(st.integers(0, 4)), min_size=1, max_size=12)
NUMBERS = st.lists(
    st.tuples(st.integers(-9, 9), st.integers(-9, 9)).map(list), min_size=1, max_size=12
)


def hamming(y, z):
    """Straight from the definition, both padded."""
    n = max(len(y), len(z))
    return sum(a != b for a, b in zip(y.ljust(n), z.ljust(n)))


def common_prefix(y, z):
    steps = 0
    while steps < min(len(y), len(z)) and y[steps] == z[steps]:
        steps += 1
    return steps


def by_definition(function, A, B):
    return np.array([[float(function(a, b)) for b in B] for a in A])


def assert_is_kernel(kernel, Y):
    """Positive semidefinite, and all methods speak of the same matrix."""
    K = kernel(Y)
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-12)
    assert_allclose(kernel(Y, list(Y)), K, rtol=1e-12, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * max(1.0, K.max()) * len(K)
    assert_allclose(kernel.diagonal(Y), K.diagonal(), rtol=1e-12, atol=1e-12)
    turned = Y[::-1]
    assert_allclose(kernel.paired(Y, turned), K[:, ::-1].diagonal(), rtol=1e-12, atol=1e-12)
    half = K.diagonal() / 2
    assert_allclose(kernel.loss(Y, turned), half + half[::-1] - K[:, ::-1].diagonal(), atol=1e-9)
    largest = kernel.largest_loss()
    if largest is not None:
        assert (half[:, None] + half - K).max() <= largest + 1e-12


# ------------------------------------------------------------- definitions


@given(STRINGS, STRINGS)
def test_hamming_is_the_padded_distance(A, B):
    longest = max(map(len, A + B))
    for kernel in (HammingKernel().fit(A + B), HammingKernel(length=longest + 2)):
        N = kernel.largest_loss()
        distances = by_definition(hamming, A, B)
        assert_array_equal(kernel(A, B), N - distances)
        n = min(len(A), len(B))
        assert_array_equal(kernel.loss(A[:n], B[:n]), distances.diagonal())
        assert_is_kernel(kernel, A)


@given(PATHS, PATHS)
def test_paths_share_their_prefix(A, B):
    kernel = PathKernel().fit(A + B)
    assert_array_equal(kernel(A, B), by_definition(common_prefix, A, B))
    n = min(len(A), len(B))
    excess = [len(a) + len(b) - 2 * common_prefix(a, b) for a, b in zip(A, B)]
    assert_array_equal(kernel.loss(A[:n], B[:n]), np.array(excess) / 2)
    assert_is_kernel(kernel, A)
    dotted = [".".join(path) for path in A if path]
    if dotted:
        tuples = [tuple(path) for path in A if path]
        assert_array_equal(PathKernel()(dotted, tuples), PathKernel()(tuples))
        slashed = [path.replace(".", "/") for path in dotted]
        assert_array_equal(PathKernel(sep="/")(slashed), PathKernel()(dotted))


@pytest.mark.slow
@given(SETS, SETS)
def test_label_sets_share_labels(A, B):
    kernel = PathKernel().fit(A + B)
    assert_array_equal(kernel(A, B), by_definition(lambda a, b: len(a & b), A, B))
    rows = [[int(j in y) for j in range(5)] for y in A]
    assert_array_equal(kernel(A), PathKernel()(np.array(rows)))
    assert_array_equal(kernel(A), PathKernel()(sparse.csr_array(rows)))
    assert_array_equal(kernel.loss(A, A[::-1]), [len(a ^ b) / 2 for a, b in zip(A, A[::-1])])
    assert_is_kernel(kernel, A)


def test_rare_labels():
    Z = np.random.default_rng(0).random((40, 300)) < 0.01
    assert_array_equal(PathKernel()(Z[:15], Z), 1.0 * Z[:15] @ Z.T)
    assert_array_equal(PathKernel()(Z), 1.0 * Z @ Z.T)


@given(SETS)
def test_dirac_is_equality(Y):
    assert_array_equal(Dirac()(Y), by_definition(lambda a, b: a == b, Y, Y))
    lists = [sorted(y) for y in Y]
    arrays = [np.array(y) for y in lists]
    assert_array_equal(Dirac()(lists, arrays), Dirac()(Y))
    assert_array_equal(Dirac().loss(Y, Y[::-1]), [a != b for a, b in zip(Y, Y[::-1])])
    assert_is_kernel(Dirac(), Y)


def test_dirac_of_anything():
    one = [{"a": [1]}, (1, 2), np.array([[NAN, 1.0]]), "text", 3]
    same = [{"a": np.array([1])}, [1, 2], [[NAN, 1.0]], "text", 3.0]
    assert_array_equal(Dirac()(one, same), np.eye(5))
    assert_array_equal(Dirac()(np.array([[1, 2], [2, 1], [1, 2]]))[0], [1, 0, 1])


@pytest.mark.slow
@given(NUMBERS)
def test_kernels_of_numbers(Y):
    rows = np.array(Y, dtype=float)
    products, mean = rows @ rows.T, rows.mean(axis=0)
    squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
    gamma = 1.0 / (((rows - mean) ** 2).sum(axis=1).mean() or 1.0)
    expected = {
        "linear": products,
        "rbf": np.exp(-gamma * squares),
        "polynomial": (gamma * products + 1) ** 3,
    }
    for name, K in expected.items():
        kernel = resolve_output_kernel(name).fit(Y)
        assert_allclose(kernel(Y), K, rtol=1e-9, atol=1e-12)
        assert_is_kernel(kernel, Y)
    losses = resolve_output_kernel("linear").loss(Y, Y[::-1])
    assert_allclose(losses, squares[:, ::-1].diagonal() / 2)
    given_all = resolve_output_kernel("polynomial", gamma=0.5, degree=2, coef0=3)
    assert_allclose(given_all(Y), (0.5 * products + 3) ** 2)


def test_a_shift_costs_the_gaussian_no_digits():
    Y = np.array([0.0, 1.0, 3.0])
    kernel = resolve_output_kernel("rbf", gamma=0.1)
    assert_allclose(kernel(Y + 1e9), kernel(Y), rtol=1e-12)
    assert resolve_output_kernel("rbf").fit([2.0, 2.0]).gamma_ == 1.0


@pytest.mark.slow
def test_matches_are_counted_beyond_a_byte_and_a_block():
    rng = np.random.default_rng(0)
    for q in (2, 300, 70000):
        A, B = rng.integers(q, size=(700, 600)), rng.integers(q, size=(400, 600))
        A[0] = B[0]
        at = rng.integers(400, size=(50, 2))
        assert count_matches(A, B)[0, 0] == 600.0
        assert_array_equal(count_matches(A, B)[tuple(at.T)], (A[at[:, 0]] == B[at[:, 1]]).sum(1))
        assert_array_equal(count_matches(A, A), count_matches(A, A.copy()))


# ------------------------------------------------------------- functions and objects


@given(STRINGS)
def test_functions_of_two_outputs(Y):
    asked = []

    def share(y, z):
        asked.append((y, z))
        return len(set(y) & set(z))

    kernel = resolve_output_kernel(share)
    assert_array_equal(kernel(Y), by_definition(lambda y, z: len({*y} & {*z}), Y, Y))
    assert len(asked) == len(set(Y)) ** 2  # up to 32 are tried both ways round
    assert_is_kernel(kernel, Y)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda y, z: len(y) - len(z), "not symmetric: of 'a' and 'bc' it is -1, the other way"),
        (lambda y, z: NAN, "of 'a' and 'a' it is nan"),
        (lambda y, z: "x", "of 'a' and 'a' it is 'x'"),
        (lambda y, z: np.inf if y != z else 1, "of 'a' and 'bc' it is inf"),
    ],
)
def test_functions_that_are_no_kernel(function, message):
    with pytest.raises(ValueError, match=message):
        resolve_output_kernel(function)(["a", "bc"])


@pytest.mark.slow
@given(STRINGS, st.booleans())
def test_string_kernels(Y, normalize):
    for family in (SpectrumKernel, BlendedSpectrumKernel, WeightedDegreeKernel):
        string_kernel = family(2, normalize=normalize)
        kernel = resolve_output_kernel(string_kernel).fit(Y)
        assert_allclose(kernel(Y), string_kernel(Y), rtol=1e-12)
        assert kernel.largest_loss() == (1.0 if normalize else None)
        assert_is_kernel(kernel, Y)


def test_kernel_objects_give_matrices():
    words, other = ["abab", "ba", "aab"], ["ab", "bb"]
    spectrum = SpectrumKernel(2, normalize=False)
    kernel = resolve_output_kernel(spectrum).fit(words)
    assert_allclose(kernel(words, other), spectrum(words, other))
    assert_allclose(kernel.diagonal(words), spectrum.diagonal(words))
    assert_is_kernel(kernel, words)
    assert not hasattr(spectrum, "n_features_in_")
    ranks = [[1, 2, 3], [3, 1, 2], [1, 1, 2]]
    assert_is_kernel(resolve_output_kernel(EdgeKernel()), ranks)
    rows = np.array([[0.0], [1.0]])
    fitted = resolve_output_kernel(RBF(1.0)).fit(rows)
    assert_allclose(fitted(rows), [[1, np.exp(-1)], [np.exp(-1), 1]])
    total = spectrum + Dirac()
    assert_allclose(total(words), spectrum(words) + np.eye(3))
    assert_allclose((Dirac() * spectrum)(words), spectrum(words) * np.eye(3))


def test_precomputed():
    K = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.5], [0.0, 0.5, 4.0]])
    kernel = resolve_output_kernel("precomputed").fit(K)
    assert_array_equal(kernel(K), K)
    assert_array_equal(kernel([2, 0], [1]), K[[2, 0]][:, [1]])
    assert_array_equal(kernel.loss([0, 0], [1, 2]), [0.5, 3.0])
    assert_array_equal(kernel.diagonal(np.array([2])), [4.0])
    assert kernel.largest_loss() == 3.0
    for bad in ([3], [-1], [0.5], [], K[:, :2], 2 * K):
        with pytest.raises(ValueError, match="row numbers of the matrix given to fit, from 0 to 2"):
            kernel(bad)
    with pytest.raises(NotFittedError):
        resolve_output_kernel("precomputed")([0])
    for matrix, message in (
        (K[:2], "square"),
        (K + np.triu(K, 1), "not symmetric"),
        (K - 2 * np.eye(3), "lowest eigenvalue is -1"),
        (np.full((2, 2), NAN), "not finite: the value of outputs 0 and 0 is nan"),
    ):
        with pytest.raises(ValueError, match=message):
            resolve_output_kernel("precomputed").fit(matrix)


def test_check_definite():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((60, 5))
    K = F @ F.T
    assert check_definite(K) is K
    assert len(check_definite(np.zeros((0, 0)))) == 0
    check_definite(np.zeros((3, 3)))
    K[50, 50] -= 100.0
    with pytest.raises(ValueError, match="lowest eigenvalue"):
        check_definite(K)
    assert check_definite(K, block=50) is K  # which is all that it says
    K[3, 3] -= 100.0
    with pytest.raises(ValueError, match="on the first 50 outputs: its lowest"):
        check_definite(K, block=50)
    with pytest.raises(ValueError, match="My kernel is not positive semidefinite: its lowest"):
        check_definite(-np.eye(2), "My kernel")


# ------------------------------------------------------------- sums and products


@pytest.mark.slow
@given(STRINGS)
def test_sums_and_products(Y):
    h, d = HammingKernel(length=5), Dirac()
    H, D = h(Y), d(Y)
    cases = [
        (h + d, H + D),
        (h + 2 * d + d, H + 3 * D),
        (0.5 * (h + d), (H + D) / 2),
        (h * d, H * D),
        (h * h * h, H**3),
        ((h + d) * (h + d), (H + D) ** 2),
        (sum([h, d, h]), 2 * H + D),
        (3.0 * h * d, 3 * H * D),
    ]
    for kernel, expected in cases:
        assert_allclose(kernel(Y), expected)
        assert_is_kernel(kernel, Y)
        assert_allclose(clone(kernel).fit(Y)(Y), expected)
        assert_allclose(kernel(Y[:1], Y), expected[:1])
    assert (h + 2 * d).largest_loss() == 7.0
    assert isinstance(h + d + h, SumKernel)
    assert len((h + d + h).kernels) == 3
    assert len((h * d * h).kernels) == 3


def test_sums_are_fitted_as_one_and_leave_their_terms_alone():
    hamming_kernel = HammingKernel()
    kernel = (hamming_kernel + Dirac()).fit(["abcd"])
    assert_array_equal(kernel(["ab"]), [[5.0]])
    assert not hasattr(hamming_kernel, "length_")
    assert_array_equal(ProductKernel(["hamming", "dirac"]).fit(["abcd"])(["ab"]), [[4.0]])


@pytest.mark.parametrize("bad", [-1.0, NAN, np.inf])
def test_bad_multiples(bad):
    with pytest.raises(ValueError, match="multiplied by finite numbers >= 0"):
        bad * Dirac()
    with pytest.raises(ValueError, match="1 finite numbers, none below zero"):
        SumKernel([Dirac()], [bad])(["a"])


def test_bad_combinations():
    for kernels in ([], "dirac", Dirac()):
        with pytest.raises(ValueError, match="list of at least one kernel"):
            SumKernel(kernels).fit(["a"])
    with pytest.raises(ValueError, match="weights are 1 finite"):
        SumKernel([Dirac()], [1.0, 2.0])(["a"])
    for other in ("dirac", None, [1]):
        with pytest.raises(TypeError):
            Dirac() + other
        with pytest.raises(TypeError):
            other * Dirac()


# ------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("kernel", "Y", "message"),
    [
        (Dirac(), [], "Dirac: there are no outputs"),
        (Dirac(), "abc", "Dirac expects a list of outputs; got 'abc'"),
        (Dirac(), None, "expects a list of outputs; got None"),
        (Dirac(), 3, "expects a list of outputs"),
        (Dirac(), np.array(3), "expects a list of outputs"),
        (Dirac(), {"a", "b"}, "expects a list of outputs"),
        (Dirac(), ["a", None], "output 1 is None"),
        (Dirac(), [1.0, NAN], "output 1 is nan"),
        (Dirac(), [bytearray(b"x")], "got a bytearray"),
        (HammingKernel(length=3), [], "HammingKernel: there are no outputs"),
        (HammingKernel(length=3), ["ab", None], "output 1 is None"),
        (HammingKernel(length=3), ["ab", 3], r"A\[1\] is 3"),
        (HammingKernel(length=3), [{"a"}], r"A\[0\] is \{'a'\}"),
        (HammingKernel(length=3), [["a", None]], "None is not a symbol; shorter strings need no"),
        (HammingKernel(length=3), [[1.0, NAN]], "nan is not a symbol"),
        (HammingKernel(length=3), [[["a"]]], "a symbol must be hashable"),
        (HammingKernel(length=3), np.zeros((2, 2, 2)), "1-D arrays of symbols"),
        (HammingKernel(length=3), ["abcd"], "up to 3 symbols; got one of 4. Give a larger"),
        (HammingKernel(length=-1), ["a"], "length is a whole number or None; got -1"),
        (HammingKernel(length=2.5), ["a"], "length is a whole number or None; got 2.5"),
        (HammingKernel(length=True), ["a"], "length is a whole number or None; got True"),
        (PathKernel(), [], "there are no outputs"),
        (PathKernel(), ["a.b", None], "output 1 is None"),
        (PathKernel(), ["a..b"], r"A\[0\] is 'a..b'"),
        (PathKernel(), [""], r"A\[0\] is ''"),
        (PathKernel(), [["a", None]], r"A\[0\] is \['a', None\]"),
        (PathKernel(), [["a"], {"a"}], r"or only label sets; A\[1\] is \{'a'\}"),
        (PathKernel(), [{"a"}, ["a"]], r"A\[0\] is a label set and A\[1\] is \['a'\]"),
        (PathKernel(), [5], r"A\[0\] is 5"),
        (PathKernel(), [[["a"]]], "a name must be hashable"),
        (PathKernel(), np.array([[0, 2]]), r"0 or 1 for each label; A\[0, 1\] is 2"),
        (PathKernel(), np.zeros((0, 2)), "there are no outputs"),
        (resolve_output_kernel("rbf", gamma=-1), [1.0], "gamma must be positive; got -1"),
        (resolve_output_kernel("linear"), [[NAN]], "NaN|nan|finite"),
        (resolve_output_kernel("linear"), ["a"], "LinearKernel"),
        (resolve_output_kernel("polynomial", gamma=1, degree=0), [1.0], "whole degree from 1"),
        (resolve_output_kernel("polynomial", gamma=1, coef0=-1), [1.0], "coef0 >= 0"),
    ],
)
def test_bad_outputs(kernel, Y, message):
    with pytest.raises(ValueError, match=message):
        kernel(Y)
    with pytest.raises(ValueError, match=message):
        kernel.fit(Y)(Y)


def test_two_sides_that_do_not_match():
    path, linear = PathKernel(), resolve_output_kernel("linear")
    for kernel, A, B, message in (
        (path, ["a.b"], [{"a"}], "compares paths in A with label sets in B"),
        (path, [{"a"}], np.eye(2), "compares label sets in A with indicator rows in B"),
        (path, np.eye(2), np.eye(3), "A has 2 labels and B 3"),
        (linear, np.eye(2), np.eye(3), "rows of A have 2 numbers, those of B 3"),
        (HammingKernel(length=2), ["ab"], ["abc"], "got one of 3"),
    ):
        with pytest.raises(ValueError, match=message):
            kernel(A, B)
    for kernel in (Dirac(), HammingKernel(length=2), PathKernel(), Dirac() + Dirac()):
        with pytest.raises(ValueError, match=r"2.* 1"):
            kernel.loss(["a", "b"], ["a"])


def test_nothing_learned_yet():
    for kernel, Y in ((HammingKernel(), ["a"]), (resolve_output_kernel("rbf"), [1.0])):
        with pytest.raises(NotFittedError, match="call fit, or give it"):
            kernel(Y)
    with pytest.raises(ValueError, match="up to 2 symbols; got one of 3"):
        HammingKernel(length=2).fit(["abc"])


def test_forms_of_strings():
    kernel = HammingKernel(length=3)
    expected = kernel(["121", "22"])
    lists = [["1", "2", "1"], ("2", "2")]
    assert_array_equal(kernel(lists), expected)
    assert_array_equal(kernel([np.array([1, 2, 1]), np.array([2, 2])]), expected)
    assert_array_equal(kernel(np.array(["121", "22"])), expected)
    import pandas

    assert_array_equal(kernel(pandas.Series(["121", "22"], index=[5, 6])), expected)
    assert_array_equal(kernel(np.array([[1, 2], [1, 3]])), [[3.0, 2.0], [2.0, 3.0]])
    series = pandas.Series(["a", "b", "a"] * 50, index=range(150, 0, -1))
    assert_array_equal(Dirac().loss(series, series[::-1].to_numpy()), Dirac().loss(
        list(series), list(series)[::-1]))  # fmt: skip
    frame = pandas.DataFrame([[0, 1], [1, 1]], columns=["u", "v"])
    assert_array_equal(PathKernel()(frame), [[1, 1], [1, 2]])
    with pytest.raises(ValueError, match="output 1 is"):
        kernel(pandas.Series(["a", pandas.NA]))


@pytest.mark.parametrize("kernel", ["nonsense", None, 3, Dirac, ["dirac"]])
def test_what_is_no_kernel(kernel):
    with pytest.raises(ValueError, match=r"nknown kernel|name, a kernel object or a function"):
        resolve_output_kernel(kernel)


def test_names():
    for name, kind in (("dirac", Dirac), ("hamming", HammingKernel), ("path", PathKernel)):
        assert type(resolve_output_kernel(name)) is kind
    kernel = HammingKernel()
    assert resolve_output_kernel(kernel) is kernel
    assert resolve_output_kernel("hamming", length=7).largest_loss() == 7.0
    with pytest.raises(ValueError, match="go with the name of a kernel only"):
        resolve_output_kernel(kernel, length=3)
