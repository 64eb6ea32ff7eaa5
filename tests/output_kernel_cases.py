# SPDX-License-Identifier: BSD-3-Clause
"""Words, inputs and distances that tests of output kernels share."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

WORDS = ["cat", "dog", "cow", "cat", "bird", "do", "dog", "cart", "rat"]


def inputs(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 2))


def distances(kernel, model, X, new, Y, outputs):
    """k(z, z) - 2 sum_i b_i k(z, y_i) of every new row and output, typed from the formula."""
    K = rbf_kernel(X, X, gamma=0.5)
    A = model.coef_ if model.method != "ridge" else np.linalg.inv(K + model.alpha * np.eye(len(X)))
    b = rbf_kernel(new, X, gamma=0.5) @ A.T
    return kernel.diagonal(outputs) - 2.0 * b @ kernel(Y, outputs)
