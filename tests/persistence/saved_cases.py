# SPDX-License-Identifier: BSD-3-Clause
"""Small fitted models of every kind: learners, spaces, losses, kernels, forms of inputs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    OutputKernelRegressor,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct import losses as L
from skstruct import spaces as S
from skstruct.kernels import (
    RBF,
    BlendedSpectrumKernel,
    Dirac,
    HammingKernel,
    KernelSpace,
    Laplacian,
    PathKernel,
    Polynomial,
    ProductKernel,
    SpectrumKernel,
    SumKernel,
    WeightedDegreeKernel,
)
from skstruct.learners import (
    ConstraintClassification,
    ExponentialLoss,
    LabelRankingBoosting,
    LabelRankingSVM,
    MaxMarginNetwork,
    MaxMarginTree,
    NeighborLabelRanker,
    NewtonCG,
    OnlineLabelRanker,
    PairwiseComparison,
)
from skstruct.smoothing import (
    AdditiveKernelRidge,
    Forest,
    KernelRidge,
    LinearRidge,
    NadarayaWatson,
    Neighbors,
    SampleCompression,
)

N = 16
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
YES = X @ RNG.standard_normal((3, 3)) > 0
PICK = YES[:, 0].astype(int) + YES[:, 1]
SETS = [{"abc"[j] for j in range(3) if row[j]} for row in YES]
CLASSES = np.array(["low", "mid", "top"])[PICK]
RANKS = np.argsort(np.argsort(X, axis=1), axis=1) + 1
WORDS = ["".join("ab"[int(v > 0)] for v in x) for x in X]
EDGES = [("r", "a"), ("r", "b"), ("a", "c")]
CLOSED = [{"r", *(["a"] * bool(a or c)), *(["b"] * bool(b)), *(["c"] * bool(c))} for a, b, c in YES]
SHARES = np.abs(X) / np.abs(X).sum(axis=1, keepdims=True)
TOKENS = [RNG.standard_normal((2 + i % 3, 2)) for i in range(N)]
TAGS = [tuple("xy"[int(t[0] > 0)] for t in x) for x in TOKENS]
NAMED = [[[f"w={int(2 * t[0])}", *(["up"] * bool(t[1] > 0))] for t in x] for x in TOKENS]
DICTIONARIES = [[{"a": float(t[0]), "w": "pq"[int(t[1] > 0)]} for t in x] for x in TOKENS]


def _graph(*edges):
    import networkx

    return networkx.Graph(edges)


def _flow(f):
    return {("s", "a"): f, ("a", "t"): f, ("s", "b"): 1 - f, ("b", "t"): 1 - f}


def _either(first, second):
    return [first if row[0] else second for row in YES]


PATHS = [("s", "a"), ("a", "t", 0.6), ("s", "b"), ("b", "t")]
# Spaces by name, with outputs of the training rows.
SPACES: dict[str, Any] = {
    "Classes": (S.Classes(), CLASSES),
    "LabelSets": (S.LabelSets(), SETS),
    "LabelSets, sized": (S.LabelSets("abc", min_size=1, max_size=2), _either({"a"}, {"b", "c"})),
    "LabelSets, exclusive": (S.LabelSets("abc").restrict(exclusive=[["a", "b"]]),
                             _either({"a"}, {"b", "c"})),
    "Hierarchy": (S.Hierarchy(EDGES), CLOSED),
    "Hierarchy, DAG": (S.Hierarchy([*EDGES, ("b", "c")], close=True), CLOSED),
    "Hierarchy, one path": (S.Hierarchy(EDGES).restrict(one_path=True),
                            _either({"r", "b"}, {"r", "a", "c"})),
    "Ordinal": (S.Ordinal(["low", "mid", "top"]), CLASSES),
    "Ordinal, learned": (S.Ordinal(), PICK),
    "Poset, limited": (S.Poset(EDGES).restrict(exclude=["c"]), np.array(["a", "b", "b"])[PICK]),
    "Poset": (S.Poset(EDGES), np.array(["a", "b", "c"])[PICK]),
    "GraphNodes": (S.GraphNodes(_graph(("low", "mid"), ("mid", "top"))), CLASSES),
    "Candidates": (S.Candidates(["ab", "cd", "ef"]), np.array(["ab", "cd", "ef"])[PICK].tolist()),
    "Rankings": (S.Rankings(), RANKS),
    "Rankings, limited": (S.Rankings(range(3)).restrict(before=[(0, 1)], top=2),
                          _either([1, 2, 3], [2, 3, 1])),
    "Interval": (S.Interval(), 2 * X[:, 0]),
    "Box": (S.Box(), X[:, :2]),
    "Simplex": (S.Simplex(), SHARES),
    "Sphere": (S.Sphere(), X / np.linalg.norm(X, axis=1, keepdims=True)),
    "Polytope": (S.Polytope(A_ub=[[1, 1]], b_ub=[3], bounds=(0, 2)), np.abs(X[:, :2]) / 3),
    "Flows": (S.Flows(PATHS, {"s": 1, "t": -1}), [_flow(0.1 + 0.4 * row[0]) for row in YES]),
    "BinaryPolytope": (S.BinaryPolytope([[1, 1, 1]], [2]), (YES & [True, True, False]).astype(int)),
    "Knapsacks": (S.Knapsacks([2, 1, 1], 2), (YES & [False, True, True]).astype(int)),
    "Knapsacks, limited": (S.Knapsacks([2, 1, 1], 2).restrict(capacity=1, exclude=[0]),
                           (YES & [False, True, False]).astype(int)),
    "Assignments": (S.Assignments(2, 3), _either([0, 1], [2, 0])),
    "Sequences": (S.Sequences(), [list(word) for word in WORDS]),
    "Sequences, limited": (S.Sequences("ab", 3, "bigrams").restrict(forbidden=[("a", "b")]),
                           [sorted(word, reverse=True) for word in WORDS]),
    "Strings": (S.Strings("ab", length=3), WORDS),
    "PairwiseLabels": (S.PairwiseLabels([("a", "b"), ("b", "c")], "abc"), SETS),
    "PairwiseStates": (S.PairwiseStates([(0, 1), (1, 2)], "xy", range(3)),
                       [["xy"[int(v)] for v in row] for row in YES]),
    "PairwiseStates, limited": (
        S.PairwiseStates([(0, 1)], "xy", range(2)).restrict(known={0: "x"}),
        _either(["x", "x"], ["x", "y"])),
    "SpanningTrees": (S.SpanningTrees(range(4)),
                      _either([(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)])),
    "Cycles": (S.Cycles(range(4)), _either([0, 1, 2, 3], [0, 2, 1, 3])),
    "Cycles, limited": (S.Cycles(range(4)).restrict(include_edges=[(0, 1)]),
                        _either([0, 1, 2, 3], [0, 1, 3, 2])),
    "ShortestPaths": (S.ShortestPaths([arc[:2] for arc in PATHS], "s", "t"),
                      _either(["s", "a", "t"], ["s", "b", "t"])),
    "ShortestPaths, limited": (
        S.ShortestPaths(_graph(*(arc[:2] for arc in PATHS), ("a", "b")), "s", "t")
        .restrict(exclude=[("a", "b")], max_length=2),
        _either([("s", "a"), ("a", "t")], [("s", "b"), ("b", "t")])),
    "Matchings": (S.Matchings(_graph((0, 1), (2, 3), (0, 2), (1, 3))),
                  _either([(0, 1), (2, 3)], [(0, 2), (1, 3)])),
    "Tournaments": (S.Tournaments(range(3)),
                    _either([(0, 1), (1, 2), (0, 2)], [(1, 0), (1, 2), (2, 0)])),
    "Tournaments, limited": (S.Tournaments(range(3)).restrict(include=[(0, 1)]),
                             _either([(0, 1), (1, 2), (0, 2)], [(0, 1), (1, 2), (2, 0)])),
    "PartialOrders": (S.PartialOrders(range(3)), _either([(0, 1), (0, 2)], [(1, 0)])),
    "PartialOrders, limited": (S.PartialOrders(range(3)).restrict(include=[(0, 1)]),
                               _either([(0, 1), (0, 2)], [(0, 1), (2, 1)])),
    "Graphs": (S.Graphs(range(3)), _either([(0, 1), (1, 2)], [(0, 2)])),
    "Cliques": (S.Cliques(_graph((0, 1), (1, 2), (0, 2))), _either({0, 1}, {2})),
}  # fmt: skip
NUMBERS = ("Interval", "Box", "Simplex", "Sphere", "Polytope", "Flows")  # cannot be counted


@dataclass
class Case:
    """A learner with what it learns from."""

    model: Any
    X: Any
    y: Any

    def fitted(self):
        """The learner, fitted."""
        return self.model.fit(self.X, self.y)


def _by_space() -> dict[str, Case]:
    """Every learner that takes a space, over every space."""
    cases = {}
    for name, (space, y) in SPACES.items():
        learners = {
            "risk": ConditionalRiskMinimizer(space, alpha=1.0),
            "perceptron": StructuredPerceptron(space, random_state=0, max_iter=2),
            "svm": StructuredSVM(
                space, alpha=0.01, random_state=0, max_iter=5, kernel="rbf", n_landmarks=4
            ),
        }
        if name not in NUMBERS:
            learners["counting"] = CountingRidge(space, alpha=0.1, kernel="linear")
            learners["family"] = ExponentialFamily(
                space, alpha=1e-3, random_state=0, max_iter=3, fit_intercept=False
            )
        if name.split(",")[0] != "Rankings":
            learners["output kernel"] = OutputKernelRegressor(space=space, alpha=1.0)
        cases.update({f"{kind}, {name}": Case(m, X, y) for kind, m in learners.items()})
    return cases


def _losses() -> dict[str, Case]:
    chosen = {
        "LabelSets": ["zero_one", "f1", L.FBeta(2.0), L.Listed(L.F1()), L.Hamming([1.0, 2.0, 3.0]),
                      L.Hamming(miss={"a": 5.0}, alarm=[1.0, 2.0, 0.5]),
                      L.Hamming(class_weight="balanced")],
        "Classes": [L.ZeroOne(class_weight="balanced"),
                    L.CostMatrix([[0, 1, 5], [1, 0, 1], [2, 1, 0]])],
        "Hierarchy": ["hamming", L.HierarchicalLoss("uniform")],
        "Interval": ["absolute", L.Pinball(0.3), "huber", "cauchy", "logistic", "fair", "l2l1",
                     "geman_mcclure", "epsilon_insensitive", "hinge"],
        "Simplex": ["chi_square", "squared_hellinger", "root_absolute"],
        "Rankings": ["kendall", "spearman", "footrule", L.Footrule(top=2), L.RankLoss()],
        "Strings": [L.SequenceHamming(0.5), L.Hamming(class_weight="balanced"),
                    L.Listed(L.KernelLoss(SpectrumKernel(2)))],
    }  # fmt: skip
    return {
        f"loss {loss!r}": Case(
            ConditionalRiskMinimizer(SPACES[name][0], loss, alpha=1.0), X, SPACES[name][1]
        )
        for name, these in chosen.items()
        for loss in these
    }


def _smoothers() -> dict[str, Case]:
    space, y = SPACES["Hierarchy"]
    smoothers = [
        KernelRidge("rbf+laplacian"), LinearRidge(), LinearRidge(dtype=np.float32), Neighbors(3),
        Neighbors(2, "distance", metric="manhattan"), NadarayaWatson(), Forest(4, random_state=0),
        Forest(3, trees="extra", random_state=1), ExtraTreesRegressor(3, random_state=0), Ridge(),
    ]  # fmt: skip
    cases = {
        f"smoother {s!r}": Case(ConditionalRiskMinimizer(space, smoother=s), X, y)
        for s in smoothers
    }
    rows = SPACES["LabelSets"][1]
    between_labels = AdditiveKernelRidge("adjacency", alpha="auto")
    compressed = OutputKernelRegressor(method=SampleCompression(radius=1.0))
    return cases | {
        "label kernel": Case(ConditionalRiskMinimizer(space, smoother=between_labels), X, y),
        "searched": Case(ConditionalRiskMinimizer(space, kernel=RBF("auto")), X, y),
        "compression": Case(compressed, X, rows),
        "compression alone": Case(SampleCompression(radius=1.0), X, X[:, 0]),
        "ridge alone": Case(KernelRidge(), X, X[:, :2]),
        "precomputed": Case(ConditionalRiskMinimizer(space, kernel="precomputed"), X @ X.T, y),
        "function": Case(ConditionalRiskMinimizer(space, kernel=laplacian_kernel), X, y),
        "sparse": Case(ConditionalRiskMinimizer(space, smoother="kernel_ridge"),
                       sparse.csr_array(X * (X > 0)), y),
        "landmarks": Case(CountingRidge(alpha=0.1, random_state=0, n_landmarks=4), X, rows),
        "newton": Case(CountingRidge(alpha=0.1, solver=NewtonCG(tol=1e-8)), X, rows),
        "exponential": Case(CountingRidge(alpha=0.1, solver=ExponentialLoss(tol=1e-4)), X, rows),
        "outputs by a kernel": Case(
            CountingRidge(KernelSpace(S.LabelSets(), n_listed=0, n_samples=9), alpha=0.1), X, rows),
        "candidates": Case(OutputKernelRegressor(S.Candidates(WORDS[:3]), alpha=1.0), X, WORDS),
        "kernel objects": Case(
            ConditionalRiskMinimizer(space, kernel=[Polynomial(2), RBF(0.5) + Laplacian()]), X, y),
        "kernel perceptron": Case(StructuredPerceptron(kernel="rbf", random_state=0), X, rows),
    }  # fmt: skip


def _kernels() -> dict[str, Case]:
    strings = [SpectrumKernel(2), BlendedSpectrumKernel(2), WeightedDegreeKernel(2)]
    between = [HammingKernel(), SpectrumKernel(2), SumKernel([Dirac(), HammingKernel()]),
               ProductKernel([Dirac(), HammingKernel()])]  # fmt: skip
    cases = {}
    for k in strings:
        risk = ConditionalRiskMinimizer(S.Classes(), kernel=k, alpha=1.0)
        cases[f"strings {k!r}"] = Case(risk, WORDS, CLASSES)
        cases[f"strings {k!r}, outputs"] = Case(
            OutputKernelRegressor(kernel=k, output_kernel=k), WORDS, WORDS
        )
    for k in between:
        cases[f"outputs {k!r}"] = Case(
            OutputKernelRegressor(kernel="rbf", output_kernel=k), X, WORDS
        )
    for k in ("rbf", "linear", "polynomial"):
        cases[f"outputs {k}"] = Case(
            OutputKernelRegressor(kernel="rbf", output_kernel=k), X, X[:, :2]
        )
    paths = OutputKernelRegressor(kernel="rbf", output_kernel=PathKernel(S.Hierarchy(EDGES)))
    cases["outputs, paths"] = Case(paths, X, CLOSED)
    return cases


def _rankers() -> dict[str, Case]:
    rankers = [
        PairwiseComparison(),
        ConstraintClassification(),
        LabelRankingSVM(alpha=0.01, random_state=0),
        LabelRankingSVM(alpha=0.01, kernel="rbf", random_state=0),
        LabelRankingBoosting(n_estimators=3, random_state=0),
        OnlineLabelRanker(random_state=0, alpha=1.0),
        OnlineLabelRanker(method="multiplicative", random_state=0, alpha=1.0),
        NeighborLabelRanker(n_neighbors=3),
    ]
    return {f"ranker {r!r}": Case(r, X, RANKS) for r in rankers}


def _tokens() -> dict[str, Case]:
    cases = {}
    for format, tokens in (("arrays", TOKENS), ("names", NAMED), ("dictionaries", DICTIONARIES)):
        learners = [
            ConditionalRiskMinimizer(S.Sequences(), alpha=1.0),
            StructuredPerceptron(S.Sequences(), random_state=0, max_iter=2),
            StructuredSVM(S.Sequences(), alpha=0.01, random_state=0, max_iter=3),
            ExponentialFamily(
                S.Sequences(), alpha=1e-3, random_state=0, max_iter=3, fit_intercept=False
            ),
        ]
        cases |= {f"tokens, {format}, {type(m).__name__}": Case(m, tokens, TAGS) for m in learners}
    return cases


def _frames() -> dict[str, Case]:
    import pandas

    inputs = pandas.DataFrame(X, columns=list("uvw"), index=[f"row {i}" for i in range(N)])
    sets = pandas.DataFrame(YES.astype(int), columns=list("abc"), index=inputs.index)
    ranks = pandas.DataFrame(RANKS, columns=list("abc"), index=inputs.index)
    names = pandas.Series(CLASSES, index=inputs.index, name="class")
    numbers = pandas.DataFrame(SHARES, columns=list("abc"), index=inputs.index)
    tokens = [pandas.DataFrame(x, columns=["p", "q"]) for x in TOKENS]
    risk = ConditionalRiskMinimizer
    return {
        "frame of sets": Case(risk(alpha=1.0), inputs, sets),
        "frame of ranks": Case(risk(S.Rankings(), alpha=1.0), inputs, ranks),
        "frame of shares": Case(risk(S.Simplex(), alpha=1.0), inputs, numbers),
        "series of names": Case(risk(alpha=1.0), inputs, names),
        "series of categories": Case(risk(alpha=1.0), inputs, names.astype("category")),
        "frames of tokens": Case(risk(S.Sequences(), alpha=1.0), tokens, TAGS),
    }


def _others() -> dict[str, Case]:
    holes = np.where(X > 1.0, np.nan, X)
    words = np.array([[word[0], word[1:]] for word in WORDS], dtype=object)
    risk = ConditionalRiskMinimizer(S.LabelSets(), alpha=1.0)
    return {
        "tree": Case(MaxMarginTree(alpha=0.01, random_state=0, max_iter=3), X, SETS),
        "network": Case(MaxMarginNetwork(alpha=0.01, random_state=0, max_iter=3), X, SETS),
        "pipeline, scaled": Case(make_pipeline(StandardScaler(), risk), X, SETS),
        "pipeline, filled": Case(
            make_pipeline(SimpleImputer(), MinMaxScaler(), StructuredSVM(alpha=0.01, max_iter=3)),
            holes,
            SETS,
        ),
        "pipeline, names": Case(make_pipeline(OneHotEncoder(), risk), words, SETS),
        "one row": Case(ConditionalRiskMinimizer(smoother="kernel_ridge"), X[:1], CLASSES[:1]),
        "dates": Case(risk.__class__(alpha=1.0), X, np.array(PICK, dtype="datetime64[D]")),
        "many names": Case(
            risk.__class__(S.LabelSets([f"label {j}" for j in range(100)]), alpha=1.0),
            X,
            [{f"label {j}" for j in range(100) if (i + j) % 3 == 0} for i in range(N)],
        ),
    }


def all_cases() -> dict[str, Case]:
    """Every case by its name."""
    return {
        **_by_space(), **_losses(), **_smoothers(), **_kernels(), **_rankers(), **_tokens(),
        **_frames(), **_others(),
    }  # fmt: skip
