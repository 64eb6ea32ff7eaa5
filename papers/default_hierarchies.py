# SPDX-License-Identifier: BSD-3-Clause
"""The default's probabilities of labels in hierarchies, beside those of a network made for them.

Protocol: published training and test rows; inputs standardised on the training rows, but for words,
which are used as they are. One model for each smoother, ConditionalRiskMinimizer(space, "hamming"),
with nothing else set but a seed; its smoothed indicators are compared by the area below the curve
of precision and recall over all pairs of row and label, AU(PRC), with the standard error of twenty
jackknife groups of test rows. Beside them are the figures of C-HMCNN (Giunchiglia and Lukasiewicz,
"Coherent hierarchical multi-label classification networks", 2020, Table 2), which was tuned on
validation rows and is the mean of ten runs. CPU seconds are those of fitting and predicting, in as
many threads as the environment allows; the kept figures are of one.
"""

import argparse

import numpy as np
from defaults_data import all_cases
from defaults_measures import average_precision, jackknife
from defaults_ours import cpu_seconds

from skstruct import ConditionalRiskMinimizer

PUBLISHED = {
    "spo_fun": 0.215, "spo_go": 0.382, "enron": 0.756, "imclef07a": 0.956, "imclef07d": 0.927,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", default=list(PUBLISHED))
    parser.add_argument("--smoothers", nargs="+", default=["kernel_ridge", "auto"])
    given = parser.parse_args()
    print(__doc__)
    print(f"{'':12}{'smoother':14}AU(PRC)   error  C-HMCNN   CPU s  chosen")
    for name in given.sets:
        case = all_cases()[name]()
        rows = np.arange(len(case))
        train, test = rows[: case.n_given], rows[case.n_given :]
        X, X_test = case.scaled(train, test)
        for smoother in given.smoothers:
            print(line(case, smoother, X, case.Y[train], X_test, case.Y[test]), flush=True)


def line(case, smoother, X, Y, X_test, Y_test):
    """Of the table."""
    start = cpu_seconds()
    model = ConditionalRiskMinimizer(case.space, "hamming", smoother=smoother, random_state=0)
    P = np.asarray(model.fit(X, Y).smoother_.predict(X_test))[:, : Y.shape[1]]
    seconds = cpu_seconds() - start
    error = jackknife(average_precision, P, Y_test)
    chosen = (model.search_.best or {}).get("smoother", type(model.smoother_).__name__)
    return (
        f"{case.name:12}{smoother:14}{average_precision(P, Y_test):7.4f}"
        f"{spread(error):8.4f}{PUBLISHED[case.name]:9.3f}{seconds:8.1f}  {chosen}"
    )


def spread(values):
    """Standard error of what jackknife groups give."""
    values = np.asarray(values)
    return np.std(values, ddof=1) / np.sqrt(len(values))


if __name__ == "__main__":
    main()
