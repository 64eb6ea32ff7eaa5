# SPDX-License-Identifier: BSD-3-Clause
"""Which values, at which positions around a token, make one feature."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.saving import savable

BEFORE, BEHIND, N_BORDERS = 0, 1, 2  # codes of positions outside of a sentence
BORDERS = ("<s>", "</s>")  # and their names


@savable
@dataclass(eq=False)
class Template:
    """The values of some attributes at some offsets, together one feature.

    Attributes
    ----------
    parts : tuple of (attribute, offset)
    keys : int64 array of shape (n_features,)
        Combinations that training has, in order; see :meth:`combine`.
    """

    parts: tuple[tuple[str, int], ...]
    keys: np.ndarray

    @property
    def name(self) -> str:
        return "|".join(
            attribute + (f"[{offset:+d}]" if offset else "") for attribute, offset in self.parts
        )

    def combine(self, around: Any, sizes: dict[str, int]) -> np.ndarray:
        """A number for every combination of values, -1 where there is none; shape (n_tokens,).

        There is none where a value is unknown or absent, or all positions are outside.

        Parameters
        ----------
        around : callable (attribute, offset) -> codes of shape (n_tokens,)
        sizes : dict, how many codes an attribute has
        """
        total: Any = 0
        known: Any = True
        inside: Any = False
        for attribute, offset in self.parts:
            code = around(attribute, offset)
            total = total * sizes[attribute] + code
            known = known & (code >= 0)
            inside = inside | (code >= N_BORDERS)
        return np.where(known & inside, total, -1)

    def learn(self, combined: np.ndarray, min_count: int) -> None:
        """Keep the combinations that so many tokens have."""
        keys, counts = np.unique(combined[combined >= 0], return_counts=True)
        self.keys = keys[counts >= min_count]

    def find(self, combined: np.ndarray) -> np.ndarray:
        """Numbers of the features, -1 for combinations that are not known; shape (n_tokens,)."""
        if not len(self.keys):
            return np.full(len(combined), -1)
        at = np.minimum(np.searchsorted(self.keys, combined), len(self.keys) - 1)
        return np.where(self.keys[at] == combined, at, -1)

    def names(self, values: dict[str, list[str]]) -> list[str]:
        """Names of the features, by the values of the attributes, borders first."""
        rest, texts = self.keys, []
        for attribute, _ in self.parts[::-1]:
            rest, code = np.divmod(rest, len(values[attribute]))
            texts.append([values[attribute][c] for c in code])
        joined = ("|".join(found) for found in zip(*texts[::-1]))
        return [f"{self.name}={text}" if text else self.name for text in joined]


class Around:
    """Codes of attributes at positions around every token.

    Parameters
    ----------
    codes : dict of int arrays of shape (n_tokens,)
        Values of the attributes from ``N_BORDERS`` on; -1 for unknown ones.
    starts : int array of shape (n_sentences + 1,)
    """

    def __init__(self, codes: dict[str, np.ndarray], starts: np.ndarray) -> None:
        self.codes = codes
        lengths = np.diff(starts)
        self.position = np.arange(starts[-1])
        self.first = np.repeat(starts[:-1], lengths)
        self.end = np.repeat(starts[1:], lengths)

    def __call__(self, attribute: str, offset: int) -> np.ndarray:
        codes = self.codes[attribute]
        if not offset:
            return codes
        at = self.position + offset
        near = codes[np.clip(at, 0, len(codes) - 1)]
        return np.where(at < self.first, BEFORE, np.where(at >= self.end, BEHIND, near))


def word_templates(attributes: tuple[str, ...], window: int, pairs: bool) -> list[Any]:
    """Parts of the templates of words: all attributes here, the word around, pairs with it."""
    parts: list[Any] = [((attribute, 0),) for attribute in attributes]
    parts += _around("word", window)
    if pairs and window:
        parts += [(("word", -1), ("word", 0)), (("word", 0), ("word", 1))]
    return parts


def column_templates(name: str, window: int, pairs: bool) -> list[Any]:
    """Parts of the templates of another column: around, neighbours, and three in a row."""
    parts: list[Any] = [((name, 0),), *_around(name, window)]
    if pairs and window:
        parts += [((name, k), (name, k + 1)) for k in range(-window, window)]
        parts += [((name, -1), (name, 0), (name, 1))]
    return parts


def _around(name: str, window: int) -> list[Any]:
    return [((name, k),) for k in range(-window, window + 1) if k]
