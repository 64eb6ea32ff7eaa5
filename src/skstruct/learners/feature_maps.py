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
        """Landmarks drawn from the rows of X."""
        if kernel.kernel == "precomputed":
            raise ValueError("A precomputed kernel has no Nyström features: n_components=None.")
        rng = check_random_state(random_state)
        n = min(int(n_components), X.shape[0])
        return cls(kernel, X[np.sort(rng.permutation(X.shape[0])[:n])])

    def transform(self, X) -> np.ndarray:
        """Features of the rows of X; shape (n, number of landmarks or fewer)."""
        return self.kernel(X, self.landmarks) @ self.map


class FourierFeatures:
    """Random cosines, whose inner products are the Gaussian kernel on average."""

    def __init__(self, kernel, X, n_components: int, random_state):
        if kernel.kernel != "rbf":
            raise ValueError(
                f'Random Fourier features stand for kernel="rbf"; {kernel.kernel!r} came. '
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
