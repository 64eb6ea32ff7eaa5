# SPDX-License-Identifier: BSD-3-Clause
"""Features whose inner products stand in for a kernel."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_random_state

ZERO = 1e-12  # eigenvalues below this share of the largest are zero


class NystroemFeatures:
    r"""Features :math:`k(x, L) V e^{-1/2}` of a kernel with :math:`k(L, L) = V e V'`.

    Their inner products are the kernel wherever one of the two inputs is a landmark in L.
    """

    def __init__(self, kernel, landmarks):
        self.kernel, self.landmarks = kernel, landmarks
        e, V = eigh(kernel.gram(landmarks))
        kept = e > ZERO * max(e.max(initial=0.0), 0.0)
        self.map = V[:, kept] / np.sqrt(e[kept])

    @classmethod
    def of_rows(cls, kernel, X, n_components: int, random_state):
        """Landmarks chosen among rows of X by randomly pivoted Cholesky."""
        from skstruct.backends import NumpyBackend
        from skstruct.smoothing.onepass.landmarks import ROWS_PER_LANDMARK, choose_landmarks

        if kernel.kernel == "precomputed":
            raise ValueError("A precomputed kernel has no Nyström features: n_components=None.")
        rng = check_random_state(random_state)
        few = max(1000, ROWS_PER_LANDMARK * int(n_components))  # of many rows, some will do
        sample = X if X.shape[0] <= few else X[np.sort(rng.permutation(X.shape[0])[:few])]
        found = choose_landmarks(kernel, sample, int(n_components), rng, NumpyBackend())
        rows = np.sort(found.rows) if len(found.rows) else np.arange(1)  # a kernel that is zero
        return cls(kernel, sample[rows])

    def transform(self, X) -> np.ndarray:
        """Features of the rows of X; shape (n, number of landmarks or fewer)."""
        return self.kernel(X, self.landmarks) @ self.map


class FourierFeatures:
    """Random cosines, whose inner products are the Gaussian kernel on average."""

    def __init__(self, kernel, X, n_components: int, random_state):
        if kernel.kernel != "rbf":
            raise ValueError(
                f'Random Fourier features stand for kernel="rbf"; got {kernel.kernel!r}. '
                'features="nystroem" serves every kernel.'
            )
        from sklearn.kernel_approximation import RBFSampler

        sampler = RBFSampler(
            gamma=kernel.gamma_, n_components=int(n_components), random_state=random_state
        )
        self.sampler = sampler.fit(X)

    def transform(self, X) -> np.ndarray:
        """Features of the rows of X; shape (n, n_components)."""
        return self.sampler.transform(X)
