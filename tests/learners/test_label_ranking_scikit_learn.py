# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own checks of the label rankers, with nothing skipped."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skstruct.learners import (
    ConstraintClassification,
    LabelRankingBoosting,
    LabelRankingSVM,
    NeighborLabelRanker,
    OnlineLabelRanker,
    PairwiseComparison,
)


class RankingAdapter(BaseEstimator):
    """Test only: reads scikit-learn's toy targets as rankings of three items, and back."""

    def __init__(self, ranker=None):
        self.ranker = ranker

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        number = np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)
        high = number > np.median(number) - 0.25
        self.model_ = clone(self.ranker).fit(X, np.where(high[:, None], [1, 2, 3], [3, 1, 2]))
        self.n_features_in_ = self.model_.n_features_in_
        if hasattr(self.model_, "feature_names_in_"):
            self.feature_names_in_ = self.model_.feature_names_in_
        return self

    def predict(self, X):
        check_is_fitted(self)
        return np.asarray(self.model_.predict(X))[:, 0]


RANKERS = {
    "pairs": PairwiseComparison(),
    "constraints": ConstraintClassification(),
    "svm": LabelRankingSVM(random_state=0),
    "boosting": LabelRankingBoosting(10, random_state=0),
    "online": OnlineLabelRanker(random_state=0),
    "neighbors": NeighborLabelRanker(),
}


@pytest.mark.parametrize("name", RANKERS)
def test_check_estimator(name):
    # One of the checks runs only with this variable, which SciPy reads when imported.
    code = (
        "import json, sys, warnings; sys.path.insert(0, 'tests/learners');"
        "warnings.simplefilter('ignore');"
        "from sklearn.utils.estimator_checks import check_estimator;"
        "from test_label_ranking_scikit_learn import RANKERS, RankingAdapter;"
        f"found = check_estimator(RankingAdapter(RANKERS[{name!r}]), on_fail=None);"
        "print(json.dumps([(f['check_name'], f['status'], str(f['exception'])) for f in found]))"
    )
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    results = json.loads(done.stdout.splitlines()[-1])
    assert [result for result in results if result[1] != "passed"] == []
    assert len(results) >= 35
