# SPDX-License-Identifier: BSD-3-Clause
"""What the checks of all learners share: rows of training, and predictions held against lists."""

import numpy as np
from certified_spaces import Wrong

ROUNDING = 1e-8  # of the sum of the terms of a risk


def inputs(rng, n, p):
    return rng.standard_normal((n, p)) * 10 ** rng.uniform(-1, 1, p)


def training(rng, drawn):
    """Numbers of outputs of training, and inputs for them; some outputs repeat."""
    n = int(rng.integers(6, 25))
    pool = rng.integers(len(drawn.outputs), size=max(2, n // 2))
    at = np.where(
        rng.random(n) < 0.5, rng.choice(pool, n), rng.integers(len(drawn.outputs), size=n)
    )
    return at, inputs(rng, n, 3)


def given(drawn, at):
    outputs = [drawn.outputs[j] for j in at]
    return np.array(outputs) if isinstance(outputs[0], np.ndarray) else outputs


def places_of(drawn, outputs):
    number = {drawn.key(output): j for j, output in enumerate(drawn.outputs)}
    return np.array([number.get(drawn.key(output), -1) for output in outputs])


def check(decoded, at, values, size, allowed, exact):
    """Decisions against the values (n, m) of all outputs; size (n,) of what is summed."""
    rows, slack = np.arange(len(values)), ROUNDING * size + 1e-300
    best = np.where(allowed, values, np.inf).min(axis=1)
    if (at < 0).any():
        raise Wrong(f"row {(at < 0).argmax()}: the prediction is not in the space")
    if not np.broadcast_to(allowed, values.shape)[rows, at].all():
        raise Wrong("a prediction breaks the constraints")
    off = ~(np.abs(decoded.values - values[rows, at]) <= slack)
    if off.any():
        raise Wrong(f"row {off.argmax()}: the estimated risk is not that of the definition")
    if not (decoded.bounds <= best + slack).all():
        raise Wrong("a bound is above the least risk")
    if exact and not (decoded.values <= best + slack).all():
        raise Wrong("the prediction is not of least risk")


def check_lists(found, drawn, values, size, allowed, exact):
    """k-best lists of a learner: the least values in their order, and outputs that have them."""
    values = np.where(allowed, values, np.inf)
    k = found.values.shape[1]
    least = np.sort(values, axis=1)[:, :k]
    slack = (ROUNDING * size + 1e-300)[:, None]
    told = np.isfinite(found.values)
    if k > least.shape[1] or (told != np.isfinite(least)).any():
        raise Wrong("k-best lists have another number of outputs than there are")
    with np.errstate(invalid="ignore"):
        off = told & ~(np.abs(found.values - least) <= slack)
    if exact and off.any():
        raise Wrong(f"row {off.any(axis=1).argmax()}: the k best of a learner are not the k best")
    at = np.column_stack([places_of(drawn, outputs) for outputs in found.outputs])
    at = np.where(told, at, -1)
    if (told & (at < 0)).any():
        raise Wrong("a k-best output of a learner is not in the space")
    own = np.take_along_axis(values, np.maximum(at, 0), axis=1)
    with np.errstate(invalid="ignore"):
        if (told & ~(np.abs(own - found.values) <= slack)).any():
            raise Wrong("the value of a k-best output of a learner is not that of the definition")
    ranked = np.sort(at, axis=1)
    if ((ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] >= 0)).any():
        raise Wrong("k-best outputs of a learner repeat")
