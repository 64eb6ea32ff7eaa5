# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of papers/ecrm_hierarchies.py: conditional risk by the rule, by default, and variants."""

import warnings

from hierarchy_data import LOSSES, answer, rows_of

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF
from skstruct.model_selection import left_out_risk
from skstruct.smoothing import Forest


def searched(rows):
    """The kernel of the paper, compared by all rows; of a Gaussian one widths too, by a sample."""
    if rows.kernel == "rbf":
        return {"kernel": RBF("auto")}
    return {"kernel": rows.kernel, "solver": "spectral"}


def by_ridge(name, scaling, loss, settings):
    """Kernel ridge regression; penalty, and width, of least left-out risk of the loss itself."""
    rows = rows_of(name, scaling)
    settings = {**searched(rows), "cv": rows.cv, **settings}
    return answer(
        rows,
        lambda: ConditionalRiskMinimizer(rows.space, LOSSES[loss](), **settings)
        .fit(rows.X_train, rows.Y_train),
        risk=lambda model: left_out(model, rows),
        scaling=lambda _: scaling,
        alpha=lambda model: float(model.alpha_),
        gamma=lambda model: model.gamma_,
    )  # fmt: skip


def left_out(model, rows):
    """Risk of left-out training rows, under the loss that penalties were compared by."""
    return left_out_risk(model, loss=model.search_.loss, cv=rows.cv)


def by_default(name, loss):
    """Nothing but space and loss is given, and a seed."""
    return by_stack(name, "raw", loss, None)


def by_stack(name, scaling, loss, cv):
    """The default smoother, on inputs as they are; ``cv`` says what is left out together."""
    rows = rows_of(name, scaling)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*did not converge.*")
        return answer(
            rows,
            lambda: ConditionalRiskMinimizer(rows.space, LOSSES[loss](), cv=cv, random_state=0)
            .fit(rows.X_train, rows.Y_train),
            risk=lambda model: model.search_.best["risk"],
            scaling=lambda _: scaling,
            smoother=lambda model: model.search_.best["smoother"],
        )  # fmt: skip


def one_path(name, scaling, loss):
    """The model of ``by_ridge``, told that there is exactly one path."""
    rows = rows_of(name, scaling)
    return answer(
        rows,
        lambda: ConditionalRiskMinimizer(
            rows.space, LOSSES[loss](), cv=rows.cv, **searched(rows)
        ).fit(rows.X_train, rows.Y_train),
        lambda model, X: model.predict(X, restrict={"one_path": True}),
        scaling=lambda _: scaling,
        alpha=lambda model: float(model.alpha_),
        gamma=lambda model: model.gamma_,
    )


def by_forest(name, scaling, loss):
    """A forest of 100 trees smooths, on the features of the rule's first scaling."""
    rows = rows_of(name, scaling)
    forest = Forest(100, max_features="sqrt", min_samples_leaf=3, random_state=0)
    return answer(
        rows,
        lambda: ConditionalRiskMinimizer(rows.space, LOSSES[loss](), smoother=forest)
        .fit(rows.X_train, rows.Y_train),
        scaling=lambda _: scaling,
    )  # fmt: skip


def least_risk(found, keys):
    """The rule: of some tasks, the first of least loss on left-out training rows."""
    known = [key for key in keys if key in found]
    return min(known, key=lambda key: found[key]["risk"]) if known else None
