# SPDX-License-Identifier: BSD-3-Clause
"""What every learner shows of a long fit: its plan first, then how far it is, on stderr alone."""

import numpy as np
import pytest

from skstruct import ConditionalRiskMinimizer, learners
from skstruct.kernels import RBF
from skstruct.learners import CircuitRank
from skstruct.smoothing import Forest, NystroemRidge
from skstruct.spaces import LabelSets, Rankings, Sequences

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = (X @ RNG.normal(size=(3, 4)) > 0).astype(int)
RANKS = np.argsort(np.argsort(X @ RNG.normal(size=(3, 4)), axis=1), axis=1) + 1
WORDS = [RNG.normal(size=(4, 2)) for _ in range(8)]
TAGS = [["ab"[int(row[0] > 0)] for row in word] for word in WORDS]


def crm(**parameters):
    return ConditionalRiskMinimizer(LabelSets(range(4)), verbose=1, **parameters)


def made(name, *args, **parameters):
    return getattr(learners, name)(*args, verbose=1, **parameters)


FITS = {
    "kernel": (lambda: crm().fit(X, Y), "40 rows x 5 targets", "smoothers"),
    "kernels": (lambda: crm(kernel=RBF([0.1, 1.0])).fit(X, Y), "44 kernels", "kernels"),
    "one alpha": (lambda: crm(alpha=1.0).fit(X, Y), "40 rows x 5 targets", "decomposing"),
    "landmarks": (lambda: crm(solver="nystroem").fit(X, Y), "nystroem", "summing"),
    "given": (lambda: crm(smoother=Forest(5)).fit(X, Y), "Forest on 40 rows", "trees"),
    "stream": (lambda: crm().fit(iter([(X, Y)] * 2)), "Rows in blocks x 5", "summing"),
    "counted": (lambda: crm().fit(lambda: iter([(X, Y)])), "in blocks x 5", "landmarks"),
    "further": (lambda: crm().partial_fit(X, Y), "", "summing"),
    "forest": (lambda: Forest(5, verbose=1).fit(X, Y), "", "trees"),
    "ridge": (lambda: NystroemRidge(verbose=1).fit(X, Y), "", "summing"),
    "output kernel": (
        lambda: made("OutputKernelRegressor", output_kernel="linear").fit(X, Y),
        "40 rows x", "alphas",
    ),
    "compression": (
        lambda: made(
            "OutputKernelRegressor", output_kernel="linear", method="sample_compression"
        ).fit(X, Y),
        "40 rows, sample compression", "folds",
    ),
    "counting": (lambda: made("CountingRidge").fit(X, Y), "40 rows x 4 coord", "alphas"),
    "newton": (
        lambda: made("CountingRidge", alpha=1.0, solver="newton-cg").fit(X, Y),
        "newton-cg", "newton-cg: ",
    ),
    "exponential": (
        lambda: made("ExponentialFamily", LabelSets()).fit(X, Y), "40 rows, LabelSets", "L-BFGS"
    ),
    "chains": (
        lambda: made("ExponentialFamily", Sequences()).fit(WORDS, TAGS), "8 rows", "L-BFGS"
    ),
    "stochastic": (
        lambda: made(
            "ExponentialFamily", Rankings(), solver="contrastive", max_iter=16, tol=1e6
        ).fit(X, RANKS),
        "at most 16 iterations", "stochastic gradients",
    ),
    "svm": (lambda: made("StructuredSVM", Rankings()).fit(X, RANKS), "StructuredSVM", "training"),
    "tree": (
        lambda: made("MaxMarginTree", method=CircuitRank(n_restarts=2), random_state=0).fit(X, Y),
        "MaxMarginTree on 40", "starts",
    ),
    "greedy": (
        lambda: made("MaxMarginTree", method="greedy", random_state=0).fit(X, Y),
        "MaxMarginTree on 40", "edges",
    ),
    "network": (lambda: made("MaxMarginNetwork", [(0, 1)]).fit(X, Y), "Network on 40", "training"),
    "perceptron": (
        lambda: made("StructuredPerceptron", LabelSets()).fit(X, Y), "Perceptron on 40", "training"
    ),
    "pairs": (lambda: made("PairwiseComparison").fit(X, RANKS), "40 rankings of 4", "pairs"),
    "constraints": (
        lambda: made("ConstraintClassification").fit(X, RANKS), "40 rankings", "fitting Logistic"
    ),
    "ranking svm": (lambda: made("LabelRankingSVM").fit(X, RANKS), "40 rankings", "passes"),
    "boosting": (
        lambda: made("LabelRankingBoosting", n_estimators=3).fit(X, RANKS),
        "40 rankings", "boosting",
    ),
    "online": (lambda: made("OnlineLabelRanker").fit(X, RANKS), "40 rankings", "epochs"),
    "neighbors": (lambda: made("NeighborLabelRanker").fit(X, RANKS), "40 rankings", "numbers of"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_long_fit_shows_its_plan_and_progress(name, shown_at_once, capsys):
    fit, plan, stage = FITS[name]
    fit()
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert told.out == ""
    assert plan in told.err
    progress = [line for line in lines if stage in line and ("so far" in line or " in " in line)]
    assert progress, told.err
    if plan:
        first = next(i for i, line in enumerate(lines) if plan in line)
        assert first < lines.index(progress[0])


@pytest.mark.parametrize(
    "name", [n for n in learners.__all__ if hasattr(getattr(learners, n), "fit")]
)
def test_every_learner_has_verbose(name):
    assert "verbose" in getattr(learners, name)._get_param_names()


def test_lbfgs_ends_its_bar(shown_at_once, capsys):
    """It may take 1,000 steps, and converges after a few."""
    model = made("ExponentialFamily", LabelSets(), max_iter=1000).fit(X, Y)
    last = [line for line in capsys.readouterr().err.splitlines() if "L-BFGS" in line][-1]
    assert last.startswith(f"L-BFGS: {model.n_iter_} in ")
    assert model.n_iter_ < 1000


def test_rows_in_hand_are_not_done(capsys, shown_at_once):
    from skstruct._arrays.progress import watching, working
    from skstruct.smoothing.nystroem.reading import Counted

    with watching(1), working("summing", 5, unit=" rows") as stage:
        read = Counted(len, stage)
        assert [read("abc"), stage.done, read("de"), stage.done] == [3, 0, 2, 3]
        read.finish()
        assert stage.done == 5
