# SPDX-License-Identifier: BSD-3-Clause
"""Kernel between aligned strings: n-grams shared at the same place, or at places nearby."""

from __future__ import annotations

from functools import cache
from numbers import Integral

import numpy as np

from skstruct.kernels.strings.ngram_kernel import NGramKernel, check_weights


class WeightedDegreeKernel(NGramKernel):
    r"""Matches of all m-grams, m = 1, ..., n, at the same place of two strings or near it.

    .. math::

        k(x, x') = \sum_{m=1}^{n} \beta_m \sum_{l, l'} w(|l - l'|)\; 1[x_{l:l+m} = x'_{l':l'+m}],
        \qquad w(0) = 1,\quad w(s) = \frac{1}{2(s + 1)}\ (0 < s \le S),\quad w(s) = 0\ (s > S)

    where l and l' run over the places at which x and x' have an m-gram. With S = 0 this is the
    weighted degree kernel of [1]_, otherwise the one with shifts of [2]_. Strings may differ in
    length: what one of them does not have, does not match.

    Parameters
    ----------
    n : int, default=3
        Length of the longest m-grams.
    shift : int, default=0
        S, how far apart matches may be.
    weights : sequence of n nonnegative floats, default=None
        :math:`\beta_1, \dots, \beta_n`; None is :math:`\beta_m = 2 (n - m + 1) / (n (n + 1))`,
        which add up to 1.
    normalize : bool, default=True
        Divide by :math:`\sqrt{k(x, x)\, k(x', x')}`; the empty string keeps its 0.

    See Also
    --------
    SpectrumKernel : matches at any two places; inputs and methods are the same.

    Notes
    -----
    The kernel is positive semidefinite for every S: its spectrum over places,
    :math:`1 + \sum_{s=1}^{S} \cos(s\theta) / (s + 1)`, is at least 1/2 by the inequality of
    Rogosinski and Szegő [3]_. Hence there are numbers :math:`f_0, \dots, f_S` with
    :math:`\sum_t f_t f_{t+s} = w(s)`, and the features are sums of :math:`\sqrt{\beta_m} f_t` in
    the columns (m-gram, l + t): S + 1 numbers for each m-gram of a string.

    References
    ----------
    .. [1] G. Rätsch and S. Sonnenburg, "Accurate splice site detection for Caenorhabditis
       elegans", in "Kernel methods in computational biology", 2004.
    .. [2] G. Rätsch, S. Sonnenburg and B. Schölkopf, "RASE: recognition of alternatively spliced
       exons in C. elegans", Bioinformatics 21, 2005.
    .. [3] W. Rogosinski and G. Szegő, "Über die Abschnitte von Potenzreihen, die in einem Kreise
       beschränkt bleiben", Mathematische Zeitschrift 28, 1928.

    Examples
    --------
    >>> kernel = WeightedDegreeKernel(2, weights=[1, 10], normalize=False)
    >>> kernel(["GATTACA"], ["GATTACA", "CATTAGA", "AGATTAC"])
    array([[67., 35.,  1.]])
    >>> WeightedDegreeKernel(2, shift=1)(["GATTACA"], ["CATTAGA", "AGATTAC"]).round(2)
    array([[0.67, 0.35]])
    """

    def __init__(self, n=3, *, shift=0, weights=None, normalize=True):
        self.n = n
        self.shift = shift
        self.weights = weights
        self.normalize = normalize

    def _parts(self):
        name = type(self).__name__
        if not isinstance(self.shift, Integral) or isinstance(self.shift, bool) or self.shift < 0:
            raise ValueError(f"{name}: shift is a whole number of at least 0; got {self.shift!r}.")
        weights = self.weights
        if weights is None:
            weights = 2 * np.arange(self.n, 0, -1) / (self.n * (self.n + 1))
        weights = check_weights(weights, self.n, name)
        values = shift_values(int(self.shift))
        return [(m, weight, values) for m, weight in enumerate(weights, start=1) if weight > 0]


@cache
def shift_values(S: int) -> tuple[float, ...]:
    """The f_0, ..., f_S with sum_t f_t f_(t+s) = w(s): 1, 1/4, 1/6, ..., 1/(2(S+1)).

    By the logarithm of the spectrum: half of its Fourier series, the part of nonnegative
    frequencies, is the logarithm of f. The series converges geometrically, as the spectrum has
    no zero; it is cut at 128 (S + 1) terms.
    """
    if S == 0:
        return (1.0,)
    size = 128 * (S + 1)
    spectrum = np.zeros(size)
    spectrum[0] = 1.0
    spectrum[1 : S + 1] = spectrum[-S:][::-1] = 0.5 / np.arange(2, S + 2)
    series = np.fft.ifft(np.log(np.fft.fft(spectrum).real)).real
    series[0] /= 2
    series[size // 2] /= 2
    series[size // 2 + 1 :] = 0
    f = np.fft.ifft(np.exp(np.fft.fft(series))).real
    return tuple(f[: S + 1].tolist())
