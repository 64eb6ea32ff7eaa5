# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between strings by the n-grams they share: spectrum and blended spectrum."""

from __future__ import annotations

import numpy as np

from skstruct.kernels.strings.ngram_kernel import NGramKernel, check_weights


class SpectrumKernel(NGramKernel):
    r"""Number of n-grams that two strings share, each as often as it occurs in both.

    .. math:: k(x, x') = \sum_{u \in \Sigma^n} \#_u(x)\, \#_u(x')

    with :math:`\#_u(x)` the number of places where the n-gram u begins in x. It is both a kernel,
    ``kernel(A, B)``, and a scikit-learn transformer to the sparse features :math:`\#_u(x)`.
    Strings shorter than n have no n-gram: their kernel is 0 with all others, and with themselves.

    The features are found without a loop over characters, in any alphabet, and without hashing:
    no two n-grams share a column.

    Parameters
    ----------
    n : int, default=3
        Length of the n-grams.
    normalize : bool, default=True
        Divide by :math:`\sqrt{k(x, x)\, k(x', x')}`; strings without n-grams keep their 0.

    References
    ----------
    .. [1] C. Leslie, E. Eskin and W. S. Noble, "The spectrum kernel: a string kernel for SVM
       protein classification", Pacific Symposium on Biocomputing, 2002.

    Examples
    --------
    >>> SpectrumKernel(2, normalize=False)(["banana", "ananas"], ["nana", "band", "a"])
    array([[6., 3., 0.],
           [6., 2., 0.]])
    >>> kernel = SpectrumKernel(2, normalize=False).fit(["banana"])
    >>> kernel.get_feature_names_out()
    array(['an', 'ba', 'na'], dtype=object)
    >>> kernel.transform(["nana", "band"]).toarray()
    array([[1., 0., 2.],
           [1., 1., 0.]])

    Rows may be sequences of any hashable tokens:

    >>> SpectrumKernel(1)([["to", "be", "or", "not", "to", "be"]], [("to", "be")])
    array([[0.894427...]])
    """

    def __init__(self, n=3, *, normalize=True):
        self.n = n
        self.normalize = normalize

    def _parts(self):
        return [(self.n, 1.0, ())]


class BlendedSpectrumKernel(NGramKernel):
    r"""Spectrum kernels of all lengths up to n, added.

    .. math:: k(x, x') = \sum_{m=1}^{n} w_m \sum_{u \in \Sigma^m} \#_u(x)\, \#_u(x')

    Parameters
    ----------
    n : int, default=3
        Length of the longest n-grams.
    weights : sequence of n nonnegative floats, default=None
        :math:`w_1, \dots, w_n`; None weighs all lengths by 1.
    normalize : bool, default=True
        Divide by :math:`\sqrt{k(x, x)\, k(x', x')}`; the empty string keeps its 0.

    See Also
    --------
    SpectrumKernel : one length only; inputs and methods are the same.

    References
    ----------
    .. [1] C. Leslie, E. Eskin and W. S. Noble, "The spectrum kernel: a string kernel for SVM
       protein classification", Pacific Symposium on Biocomputing, 2002.
    .. [2] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004,
       section 11.2.

    Examples
    --------
    >>> BlendedSpectrumKernel(2, weights=[1, 10], normalize=False)(["abc"], ["bca", "cab"])
    array([[13., 13.]])
    """

    def __init__(self, n=3, *, weights=None, normalize=True):
        self.n = n
        self.weights = weights
        self.normalize = normalize

    def _parts(self):
        weights = np.ones(self.n) if self.weights is None else self.weights
        weights = check_weights(weights, self.n, type(self).__name__)
        return [(m, weight, ()) for m, weight in enumerate(weights, start=1) if weight > 0]
