# SPDX-License-Identifier: BSD-3-Clause
"""The same set of outputs under another embedding."""

from __future__ import annotations

from skstruct.spaces.base import BaseSpace


class EmbeddingView(BaseSpace):
    """Wraps a space: its outputs, names and limits, with an embedding of the view's own."""

    def __init__(self, space):
        self.space = space

    @property
    def labels_(self):
        return self.space.labels_

    @property
    def dag_(self):
        return self.space.dag_

    @property
    def limits_(self):
        return getattr(self.space, "limits_", None)

    def fit(self, Y):
        self.space.fit(Y)
        return self

    def validate(self, Y):
        return self.space.validate(Y)

    def restore(self, Z, index=None):
        return self.space.restore(Z, index)

    def contains(self, Z):
        return self.space.contains(Z)

    def _over(self, space):
        """The same view of another space."""
        return type(self)(space)

    def rows(self, index):
        return self._over(self.space.rows(index))

    def restrict(self, **limits):
        return self._over(self.space.restrict(**limits))

    def with_embedding(self, name, outputs=None, candidates=None):
        if name == self.embedding:
            return self
        return self.space.with_embedding(name, outputs, candidates)
