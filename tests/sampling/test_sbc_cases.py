# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

from sampling.sbc_cases import rank_among, ranks_are_uniform


def test_a_right_sampler_passes_and_a_wrong_one_fails():
    rng = np.random.default_rng(1)
    truth, draws = rng.integers(3, size=2000), rng.integers(3, size=(2000, 19))
    for n_bins in (5, 20):
        assert ranks_are_uniform(rank_among(truth, draws, rng), n_bins, n_ranks=20)
    often_two = np.where(rng.random(draws.shape) < 0.3, 2, draws)
    assert not ranks_are_uniform(rank_among(truth, often_two, rng), 20)
    # Without random ties three values cannot have twenty ranks.
    assert not ranks_are_uniform((draws < truth[:, None]).sum(axis=1), 20)


def test_the_level_is_kept():
    """One in ten of 400 uniform cases fails at level 0.1; 20..62 with probability over 99.9 %."""
    rng = np.random.default_rng(2)
    failed = sum(not ranks_are_uniform(rng.integers(10, size=500), 10, 0.1) for _ in range(400))
    assert 20 <= failed <= 62


def test_what_cannot_be_tested():
    for ranks, n_bins, n_ranks in (([0] * 40, 7, 20), ([0] * 4, 2, 2), ([2] * 40, 2, 2)):
        with pytest.raises(ValueError, match=r"bins|Ranks are from 0 to 1"):
            ranks_are_uniform(np.array(ranks), n_bins, n_ranks=n_ranks)
