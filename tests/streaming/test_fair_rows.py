# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skstruct.streaming.parquet import fair_rows


@given(
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=30).filter(sum),
    n=st.integers(1, 200),
    max_groups=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_rows_are_distinct_sorted_and_as_many_as_asked(sizes, n, max_groups, seed):
    rows = fair_rows(sizes, n, np.random.RandomState(seed), max_groups)
    assert len(rows) == min(n, sum(sizes))
    assert (np.diff(rows) > 0).all()
    assert rows[0] >= 0
    assert rows[-1] < sum(sizes)


@pytest.mark.slow
@pytest.mark.parametrize("max_groups", [3, 100])
def test_every_row_has_the_same_probability(max_groups):
    """Of groups of very different sizes; error rate 1e-3 for each of the two cases."""
    sizes = [5, 40, 5, 17, 3, 60, 1, 1, 9, 20, 30, 8, 12, 9, 20]
    n, trials = 4, 2000
    counts = np.zeros(sum(sizes))
    for seed in range(trials):
        counts[fair_rows(sizes, n, np.random.RandomState(seed), max_groups)] += 1
    # Trials are independent, rows of one trial are not: each row is held against its own
    # distribution, a binomial, and the smallest of 240 p-values against its share of the error
    # rate.
    p_values = [stats.binomtest(int(c), trials, n / len(counts)).pvalue for c in counts]
    assert min(p_values) > 1e-3 / len(counts)


def test_few_groups_are_looked_into():
    sizes = np.full(1000, 100)
    rows = fair_rows(sizes, 300, np.random.RandomState(0), 16)
    assert len(np.unique(rows // 100)) <= 16
