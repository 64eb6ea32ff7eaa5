# SPDX-License-Identifier: BSD-3-Clause
"""Figures 5.3 to 5.5 of Vembu (2010): online and batch learning of structured ridge regression.

Part of papers/counting_ridge.py. The objective (5.7), divided by |Y| and by the number of rows m,
against seconds of training at alpha = 1, for

* the identity on {0, 1}^5 as a multi-label problem, inputs uniform, the expansion truncated to
  0.15 m terms (Figure 5.3), and for 5,000 rows to several shares of m (Figure 5.4);
* the dicycle policies of papers/counting_cycles.py, truncated to 500 terms (Figure 5.5).

Online learning is one pass of partial_fit, one row at a time, with the inner product of the inputs
as a kernel, as the thesis has it; batch learning is by conjugate gradients (NCG) with the same
kernel matrix, as in the thesis, and in closed form. "features" are the same where the learner knows
that the kernel is linear and has weights of features instead of an expansion. The thesis draws
its figures and prints no number, and does not say which kernel it uses. Every online step of its
(5.9) carries the whole penalty; ours share it, or they would minimise another objective. Three
draws of each size.
"""

from __future__ import annotations

import time

import numpy as np
from counting_cycles import Policies
from keeping import Figure

from skstruct import CountingRidge
from skstruct.datasets.tours import make_identity_labels
from skstruct.learners import StochasticGradient
from skstruct.spaces import LabelSets, Uniform

SIZES = (100, 200, 500, 1000, 2000, 5000)
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
N_BITS, N_KEPT, N_REPEATS = 5, 500, 3


def inner(A, B):
    """The linear kernel as one that the learner does not know by name."""
    return A @ B.T


class Objective:
    """(5.7) / (|Y| m) of a model on rows: alpha |f|^2 + sum of losses, over m."""

    def __init__(self, space, X, Y):
        self.space, self.X = space.fit(Y), X
        self.Y = Y
        mean = Uniform.of(self.space).mean_embedding()
        self.psi = self.space.embed(self.space.validate(Y)) - mean
        self.covariance = Uniform.of(self.space).covariance()

    def __call__(self, model):
        f = model.decision_function(self.X)
        margins = np.einsum("id,id->i", self.psi, f)
        spread = np.einsum("id,id->", f, self.covariance.apply(f))
        losses = 0.5 * spread + 0.5 * (margins**2).sum() - margins.sum()
        return (model.alpha_ * square_norm(model) + losses) / len(f)


def square_norm(model):
    """|f|^2 of weights of features, or of an expansion in kernel functions."""
    function = model.function_
    W = function.weights_
    if function.by_features_:
        return float((W**2).sum())
    return float(np.vdot(W, function.between(function.X_, function.X_) @ W))


def identity(m, repeat):
    rng = np.random.default_rng([m, repeat])
    return LabelSets(range(N_BITS)), *make_identity_labels(m, N_BITS, random_state=rng)


def policies(m, repeat):
    data = Policies(m, seed=100_000 * repeat + m)
    return data.space, data.X, data.Y


PROBLEMS = {"bits": identity, "tours": policies}
LEARNERS = {  # solver of batch learning or None for one pass, and kernel
    "online": (None, inner),
    "online, features": (None, "linear"),
    "NCG": ("newton-cg", inner),
    "closed form": ("closed-form", inner),
    "closed form, features": ("closed-form", "linear"),
}


def timed(problem, m, repeat, kept, name):
    """Objective and CPU seconds of a batch solver, or of one online pass that keeps some rows."""
    objective = Objective(*PROBLEMS[problem](m, repeat))
    batch, kernel = LEARNERS[name]
    settings = {"kernel": kernel, "alpha": 1.0}
    started = time.process_time()
    if batch is None:
        model = CountingRidge(objective.space, **settings)
        steps = StochasticGradient(batch_size=1, budget=kept, n_total=m)
        model.partial_fit(objective.X, objective.Y, steps=steps)
    else:
        model = CountingRidge(objective.space, solver=batch, **settings)
        model.fit(objective.X, objective.Y)
    spent = time.process_time() - started
    return [float(objective(model)), spent]


def kept_rows(problem, m):
    return max(1, int(0.15 * m)) if problem == "bits" else N_KEPT


def online_tasks(sizes=SIZES, shares=SHARES, repeats=N_REPEATS):
    tasks = {
        f"online/{problem}/{m}/{name}/{repeat}":
            (timed, problem, m, repeat, kept_rows(problem, m), name)
        for problem in PROBLEMS for m in sizes for name in LEARNERS for repeat in range(repeats)
    }  # fmt: skip
    m = sizes[-1]
    return tasks | {
        f"online/kept/{share}/{repeat}":
            (timed, "bits", m, repeat, max(1, int(share * m)), "online")
        for share in shares for repeat in range(repeats)
    }  # fmt: skip


def figures_of(found, key, repeats):
    """Objective with its standard error, and mean seconds."""
    values = np.array([found[f"{key}/{repeat}"] for repeat in range(repeats)])
    return Figure.of(values[:, 0]), float(values[:, 1].mean())


def compare(title, problem, found, sizes, repeats):
    """Prints objective and seconds of all learners by size; the same as curves."""
    print(f"\n{title}: objective ± standard error over {repeats} draws, CPU seconds")
    print(f"   {'rows':5s}  " + "  ".join(f"{name:31s}" for name in LEARNERS).rstrip())
    curves = {}
    for m in sizes:
        cells = []
        for name in LEARNERS:
            value, seconds = figures_of(found, f"online/{problem}/{m}/{name}", repeats)
            curves.setdefault(name, []).append((value.mean, seconds))
            cells.append(f"{value.text(5)} {seconds:8.2f} s".ljust(31))
        print(f"   {m:5d}  {'  '.join(cells)}".rstrip())
    return curves


def truncation(found, m, shares, repeats):
    """Figure 5.4: objective and seconds of the online learner by share of rows kept."""
    print(f"\nFigure 5.4: identity on bits, {m} rows, by share of rows kept in the expansion")
    points = []
    for share in shares:
        value, seconds = figures_of(found, f"online/kept/{share}", repeats)
        points.append((share, value.mean, seconds))
        print(f"   {share:5.2f}  {value.text(5)} {seconds:6.2f} s")
    value, seconds = figures_of(found, f"online/bits/{m}/NCG", repeats)
    print(f"     NCG  {value.text(5)} {seconds:6.2f} s")
    return points, (value.mean, seconds)


def online(found, out, sizes=SIZES, shares=SHARES, repeats=N_REPEATS):
    """Figures 5.3 to 5.5: tables and curves."""
    bits = compare("Figure 5.3: identity on bits", "bits", found, sizes, repeats)
    kept = truncation(found, sizes[-1], shares, repeats)
    tours = compare("Figure 5.5: dicycle policies", "tours", found, sizes, repeats)
    draw(bits, kept, tours, out)


def draw(bits, kept, tours, out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
    for ax, curves, title in zip(panels[::2], (bits, tours), ("bits", "dicycle policies")):
        for name, points in curves.items():
            values, seconds = np.transpose(points)
            ax.plot(seconds, values, "o-", label=name)
        ax.set(xlabel="seconds of training", ylabel="objective", xscale="log", title=title)
        ax.legend(fontsize="small")
    (shares, values, seconds), batch = np.transpose(kept[0]), kept[1]
    panels[1].plot(shares, values, "o-", label="objective, online")
    panels[1].axhline(batch[0], linestyle=":", label="objective, NCG")
    panels[1].plot([], [], "s--", color="C1", label="seconds, online")
    other = panels[1].twinx()
    other.plot(shares, seconds, "s--", color="C1")
    panels[1].set(xlabel="share of rows kept", ylabel="objective", title="truncation, bits")
    other.set_ylabel("seconds")
    panels[1].legend(fontsize="small")
    figure.savefig(out / "counting_online.png", dpi=120)
    print(f"   drawn to {out / 'counting_online.png'}")
