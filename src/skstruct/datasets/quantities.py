# SPDX-License-Identifier: BSD-3-Clause
"""Generated quantities that depend on inputs: a function with outliers, flows of traffic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.datasets.streets import StreetNetwork


@dataclass(frozen=True)
class RegressionData:
    """Inputs, outputs, and what the outputs would be without noise.

    Attributes
    ----------
    X : float64 array of shape (n_samples, n_features)
    y : float64 array of shape (n_samples,)
    clean : float64 array of shape (n_samples,)
    """

    X: np.ndarray
    y: np.ndarray
    clean: np.ndarray


def make_outlier_regression(
    n_samples: int = 200,
    *,
    variance: float = 0.1,
    share: float = 0.1,
    reach: float = 3.0,
    random_state=None,
) -> RegressionData:
    r"""Draw a sine with Gaussian noise and outliers [1]_.

    .. math:: y = \sin(6 \pi x) + \varepsilon + \zeta, \qquad x \sim U[-1, 1],
        \quad \varepsilon \sim N(0, \sigma^2)

    where :math:`\zeta` is zero, or with probability ``share`` uniform on
    :math:`[-r, r]`.

    Parameters
    ----------
    n_samples : int
    variance : float, default=0.1
        Of the noise, :math:`\sigma^2`.
    share : float, default=0.1
        Of the outliers among the samples.
    reach : float, default=3.0
        Largest size r of an outlier.
    random_state : int or numpy.random.Generator, default=None

    Returns
    -------
    RegressionData

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, section 6.

    Examples
    --------
    >>> data = make_outlier_regression(1000, random_state=0)
    >>> data.X.shape, data.y.shape
    ((1000, 1), (1000,))
    >>> bool(np.median(abs(data.y - data.clean)) < 0.3)
    True
    """
    rng = np.random.default_rng(random_state)
    x = rng.uniform(-1, 1, n_samples)
    clean = np.sin(6 * np.pi * x)
    noise = np.sqrt(variance) * rng.standard_normal(n_samples)
    outlier = (rng.random(n_samples) < share) * rng.uniform(-reach, reach, n_samples)
    return RegressionData(x[:, None], clean + noise + outlier, clean)


def make_network_flows(
    n_samples: int = 1000, *, network: StreetNetwork | None = None, random_state=None
):
    """Draw flows of traffic through streets in which one crossing may be closed.

    Parameters
    ----------
    n_samples : int
    network : StreetNetwork, default=None
        The grid of three by four crossings when None.
    random_state : int or numpy.random.Generator, default=None

    Returns
    -------
    X : array of shape (n_samples, n_features), uniform on the unit cube
    Y : array of shape (n_samples, n_arcs), the flow on each of ``network.arcs``
    network : StreetNetwork, which knows the law of Y given X

    Examples
    --------
    >>> X, Y, network = make_network_flows(5, random_state=0)
    >>> X.shape, Y.shape
    ((5, 20), (5, 17))
    >>> Y[:, :2].sum(axis=1).round(9)  # both streets out of the first crossing
    array([1., 1., 1., 1., 1.])
    """
    rng = np.random.default_rng(random_state)
    network = StreetNetwork() if network is None else network
    X = rng.random((n_samples, network.n_features))
    return X, network.sample(X, rng), network
