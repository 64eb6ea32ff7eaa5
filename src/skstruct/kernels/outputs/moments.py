# SPDX-License-Identifier: BSD-3-Clause
"""Moments of an embedding over a space that were estimated from draws, and how far off they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skstruct.saving import savable


@savable
@dataclass(frozen=True)
class MomentErrors:
    """Standard errors of moments that were estimated from draws.

    Parameters
    ----------
    n_samples : int
        Independent uniform draws that the moments are means of.
    mean : array of shape (d,)
        Of the entries of the mean embedding.
    second_moment : array of shape (d, d)
        Of the entries of the second moment.
    mean_norm, second_moment_norm : float
        Of both as a whole: roots of the expected squared distance to the truth, the Euclidean one
        and that of Frobenius.
    objective : float or None
        Of the objective at the scores that were learned, as if these had been given beforehand.
        Since they were chosen by the same draws, ``objective_`` is also too low on average, by an
        amount that vanishes as one over ``n_samples``.
    """

    n_samples: int
    mean: np.ndarray
    second_moment: np.ndarray
    mean_norm: float
    second_moment_norm: float
    objective: float | None = None

    def __repr__(self) -> str:
        of_objective = "" if self.objective is None else f", objective={self.objective:.3g}"
        return (
            f"MomentErrors(n_samples={self.n_samples}, mean_norm={self.mean_norm:.3g}, "
            f"second_moment_norm={self.second_moment_norm:.3g}{of_objective})"
        )


@savable
class SampledMoments:
    r"""Mean and second moment of rows :math:`\psi(z_s)` of independent uniform draws.

    Both are unbiased: means over the draws of :math:`\psi(z)` and of :math:`\psi(z) \psi(z)'`,
    where :math:`\psi` was settled without these draws.

    Parameters
    ----------
    psi : array of shape (n_samples, d)

    Examples
    --------
    >>> moments = SampledMoments(np.array([[0.0], [2.0], [1.0], [1.0]]))
    >>> moments.mean, moments.second, moments.errors.mean.round(3)
    (array([1.]), array([[1.5]]), array([0.408]))
    """

    def __init__(self, psi: np.ndarray) -> None:
        self.psi = psi
        self.mean = psi.mean(axis=0)
        self.second: np.ndarray = psi.T @ psi / len(psi)

    @property
    def errors(self) -> MomentErrors:
        """Standard errors, from the variances within the draws."""
        n, squares = len(self.psi), self.psi**2
        of_mean = np.maximum(np.diag(self.second) - self.mean**2, 0.0) / (n - 1)
        of_second = np.maximum(squares.T @ squares / n - self.second**2, 0.0) / (n - 1)
        norms = np.sqrt(of_mean.sum()), np.sqrt(of_second.sum())
        return MomentErrors(n, np.sqrt(of_mean), np.sqrt(of_second), *map(float, norms))

    def errors_at(self, quadratic: np.ndarray, linear: np.ndarray) -> MomentErrors:
        """The same, with that of an objective that is a mean over draws z of c'Qc / 2 + l'c.

        Parameters
        ----------
        quadratic, linear : Q (d, d) and l (d,), of centred embeddings c
        """
        centred = self.psi - self.mean
        values = 0.5 * np.einsum("sd,sd->s", centred @ quadratic, centred) + centred @ linear
        return replace(self.errors, objective=float(values.std(ddof=1) / np.sqrt(len(values))))


def objective_errors(moments: SampledMoments, examples: Any, f: np.ndarray) -> MomentErrors:
    r"""Errors of the moments, and of the objective of structured ridge regression at scores f.

    With weights w and the correct outputs a of every row, the objective is, up to what no draw
    changes, the mean over outputs z of

    .. math:: \tfrac12 \sum_i w_i \sum_a (1 - \langle f_i, \psi_a - \psi(z) \rangle)^2.

    Parameters
    ----------
    moments : SampledMoments
    examples : CountingExamples
    f : array of shape (m, d)
        Scaled scores of the training rows.
    """
    lacking = (examples.b - examples.margins(f)) / np.sqrt(examples.counts)[examples.row]
    per_row = np.bincount(examples.row, lacking, minlength=len(examples.counts))
    return moments.errors_at(f.T @ f, f.T @ per_row)
