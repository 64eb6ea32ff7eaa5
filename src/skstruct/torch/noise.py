# SPDX-License-Identifier: BSD-3-Clause
"""Noise on scores: how it is drawn, what it makes of scores, and how its density slopes."""

import math
from typing import Any

import numpy as np
import torch

from skstruct._arrays.checks import is_count, is_number
from skstruct.torch.inputs import one_of

KINDS = ("normal", "gumbel", "lognormal")


class Noise:
    r"""Scores s, perturbed by independent noise of mean zero, or factors of mean one.

    ==============  =========================================  ==========================
    kind            perturbed                                  slope, with Z standard
    ==============  =========================================  ==========================
    ``normal``      :math:`s + \sigma Z`                       :math:`Z / \sigma`
    ``gumbel``      :math:`s + \sigma (Z - 0.577...)`          :math:`(1 - e^{-Z}) / \sigma`
    ``lognormal``   :math:`s\, e^{\sigma Z - \sigma^2 / 2}`    :math:`Z / (\sigma s)`
    ==============  =========================================  ==========================

    The slope is :math:`-\nabla_z \ln p(z)` where the perturbed scores are, written in s: for every
    bounded f, the gradient of :math:`E f` is the mean of f times slope.

    Parameters
    ----------
    kind : {"normal", "gumbel", "lognormal"}
    n_samples : int
    sigma : float
    antithetic : bool
        Whether draws come in pairs Z, -Z.
    random_state : None, int or torch.Generator
        None draws by torch's own generator on the device of the scores.
    """

    def __init__(
        self, kind: str, n_samples: int, sigma: float, antithetic: bool, random_state: Any
    ) -> None:
        self.kind = one_of(kind, KINDS, "noise")
        if not is_count(n_samples):
            raise ValueError(f"n_samples is a whole number, at least 1; got {n_samples!r}.")
        if not is_number(sigma) or not 0 < sigma < math.inf:
            raise ValueError(f"sigma is a number above 0; got {sigma!r}.")
        if antithetic and kind == "gumbel":
            raise ValueError('Gumbel noise is not symmetric: antithetic pairs need noise="normal".')
        if antithetic and n_samples % 2:
            raise ValueError(f"Antithetic draws come in pairs; got n_samples={n_samples}.")
        self.n_samples, self.sigma, self.antithetic = int(n_samples), float(sigma), antithetic
        self.generator = random_state
        if random_state is not None and not isinstance(random_state, torch.Generator):
            self.generator = torch.Generator().manual_seed(int(random_state))

    def draw(self, scores: torch.Tensor) -> torch.Tensor:
        """Standard noise (n_samples, n, d), in float64 on the device of scores (n, d)."""
        if self.kind == "lognormal":
            _check_signs(scores)
        count = self.n_samples // 2 if self.antithetic else self.n_samples
        device = scores.device if self.generator is None else self.generator.device
        Z = self._standard((count, *scores.shape), device).to(scores.device)
        return torch.cat([Z, -Z]) if self.antithetic else Z

    def _standard(self, shape: tuple[int, ...], device: Any) -> torch.Tensor:
        """Independent draws in float64, on the device of the generator."""
        if device.type == "cpu":  # numpy draws several times as fast, begun by torch's generator
            seed = torch.randint(2**62, (), generator=self.generator).item()
            rng = np.random.default_rng(int(seed))
            draw = rng.gumbel if self.kind == "gumbel" else rng.standard_normal
            return torch.from_numpy(np.asarray(draw(size=shape)))
        Z = torch.empty(shape, dtype=torch.float64, device=device)
        if self.kind == "gumbel":
            return Z.exponential_(generator=self.generator).log_().neg_()
        return Z.normal_(generator=self.generator)

    def perturbed(self, scores: torch.Tensor, Z: torch.Tensor) -> torch.Tensor:
        """What the noise makes of scores (n, d), differentiably; shape (n_samples, n, d)."""
        if self.kind == "lognormal":
            return scores * torch.exp(self.sigma * Z - self.sigma**2 / 2)
        return scores + self.sigma * (Z - np.euler_gamma if self.kind == "gumbel" else Z)

    def slope(self, scores: torch.Tensor, Z: torch.Tensor) -> torch.Tensor:
        """Of minus the logarithm of the density; shape (n_samples, n, d)."""
        if self.kind == "gumbel":
            return (1.0 - torch.exp(-Z)) / self.sigma
        return Z / (self.sigma * scores) if self.kind == "lognormal" else Z / self.sigma


def _check_signs(scores: torch.Tensor) -> None:
    zero = (scores == 0).nonzero()
    if len(zero):
        row, column = zero[0].tolist()
        raise ValueError(
            f'noise="lognormal" multiplies costs, which have one sign each; costs[{row}, {column}] '
            "is 0. Make them positive, such as by softplus, or take another noise."
        )
