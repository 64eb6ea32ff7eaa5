# SPDX-License-Identifier: BSD-3-Clause
"""
A space of one's own
====================

Segmentations of sequences, with a cost for every segment.

One file with public imports only: the space, two losses of it, and what makes them work with
every learner, be restricted, checked, saved, loaded and reported. As a package of its own it would
bring the entry point that ``docs/add_a_space.md`` shows.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from skstruct import ConditionalRiskMinimizer, StructuredSVM, load_model, save_model
from skstruct.losses import BaseLoss
from skstruct.saving import check_row_constraints, savable
from skstruct.spaces import BaseSpace, Decoded, Description, Part, Parts, check_costs


@savable
@dataclass(frozen=True)
class Lengths:
    """How long the sequences are: one number for all rows, or one per row."""

    length: np.ndarray  # int, shape (1 or n,)

    @property
    def n_rows(self):
        """How many rows these are for; None when they are the same for all."""
        return None if len(self.length) == 1 else len(self.length)

    def rows(self, index):
        return Lengths(self.length[index])

    def check_saved(self, longest):
        """Refuse a model file with lengths that the space has not: argmin relies on them."""
        check_row_constraints(self.length, "i", (), 0, longest + 1)


def all_segments(width):
    """Start and stop of every segment, by stop, then by start; shape (d, 2)."""
    pairs = [(s, t) for t in range(1, width + 1) for s in range(t)]
    return np.array(pairs, int).reshape(-1, 2)


def segment_marks(Z):
    """psi: one for every segment that a row of marks has; shape (n, d)."""
    start, stop = all_segments(Z.shape[1]).T
    cuts = np.pad(np.cumsum(Z, axis=1), [(0, 0), (1, 0)])  # up to each position
    cut = np.pad(Z, [(0, 0), (1, 0)], constant_values=1).astype(bool)
    within = cuts[:, stop] - cuts[:, start] == 1  # the stop itself and no other
    return (cut[:, start] & cut[:, stop] & within).astype(float)


def _lengths(Z):
    """The last stop of every row; shape (n,)."""
    return np.max(Z * np.arange(1, Z.shape[1] + 1), axis=1, initial=0)


@savable
class SegmentLoss(BaseLoss):
    """Segments that are in one of two segmentations and not in the other."""

    embedding = "segments"

    def __call__(self, Y_pred, Y_true):
        psi = [segment_marks(np.asarray(Z)) for Z in (Y_pred, Y_true)]
        return np.abs(psi[0] - psi[1]).sum(axis=1)

    def cost(self, g, total):
        return total - 2.0 * g

    def offset(self, g, total):
        return g.sum(axis=1)


@savable
class BoundaryLoss(BaseLoss):
    """Positions where a segment stops in one of two segmentations and not in the other."""

    embedding = "segments"

    def __call__(self, Y_pred, Y_true):
        return (np.asarray(Y_pred) != np.asarray(Y_true)).sum(axis=1).astype(float)

    def cost(self, g, total):
        width = int(np.sqrt(2 * g.shape[1]))  # d = width (width + 1) / 2
        n_starts = np.arange(1, width + 1)
        stops_here = np.add.reduceat(g, n_starts * (n_starts - 1) // 2, axis=1)
        return np.repeat(total - 2.0 * stops_here, n_starts, axis=1)

    def offset(self, g, total):
        return g.sum(axis=1)


@savable
class Segmentations(BaseSpace):
    r"""Sequences of up to ``longest`` positions, each cut into segments that follow one another.

    An output is the list of positions where its segments stop; ``[2, 5]`` is a sequence of five
    positions with the segments 0..2 and 2..5, and ``[]`` is the empty one. :math:`\psi` has a
    coordinate for every segment that there may be, so that costs are costs of segments:
    :math:`\langle c, \psi(z) \rangle = \sum_{(s, t) \in z} c_{st}`. Segments come by their stop,
    then by their start.

    Parameters
    ----------
    longest : int, default=None
        Positions of the longest sequence; as in training when None.

    Examples
    --------
    >>> space = Segmentations(3)
    >>> costs = {(0, 1): 1.0, (0, 2): 5.0, (1, 2): 1.0, (0, 3): 0.0, (1, 3): -3.0, (2, 3): -1.0}
    >>> found = space.argmin(np.array([list(costs.values())]))
    >>> space.restore(found.outputs), found.values
    ([[1, 3]], array([-2.]))
    """

    embedding = "segments"
    default_loss = BoundaryLoss()
    _constraints_kind = Lengths
    _pairs_of = ("longest", "longest_")  # what psi grows with: model files are held to that

    def __init__(self, longest=None, *, constraints=None):
        self.longest = longest
        self.constraints = constraints

    # ------------------------------------------------------------------ outputs
    def fit(self, Y):
        """Learn how long sequences are, where that was left open."""
        self.longest_ = max((max(stops, default=0) for stops in Y), default=0)
        return self

    @property
    def _width(self):
        return self.longest if self.longest is not None else self.longest_

    def validate(self, Y):
        """Lists of stops as marks: z[t - 1] is one where a segment stops at t; (n, longest)."""
        Z = np.zeros((len(Y), self._width), np.int8)
        for i, stops in enumerate(Y):
            inside = all(0 < t <= self._width for t in stops)
            if not inside or any(s >= t for s, t in pairwise(stops)):
                raise ValueError(
                    f"Segmentations: Y[{i}] is {list(stops)}; expected stops from 1 to "
                    f"{self._width} that grow."
                )
            Z[i, np.asarray(stops, int) - 1] = 1
        return Z

    def restore(self, Z, index=None):
        return [(np.flatnonzero(z) + 1).tolist() for z in np.asarray(Z)]

    def contains(self, Z):
        Z = np.asarray(Z)
        marks = np.isin(Z, (0, 1)).all(axis=1)
        return (
            marks if self.constraints is None else marks & (_lengths(Z) == self.constraints.length)
        )

    # ------------------------------------------------------------------ segments
    def segments(self):
        """Start and stop of every coordinate of psi; shape (d, 2)."""
        return all_segments(self._width)

    def embed(self, Z):
        return segment_marks(np.asarray(Z))

    # ------------------------------------------------------------------ decoding
    def argmin(self, costs):
        """Dynamic programming over stops, for all rows together."""
        width = self._width
        costs = check_costs(costs, width * (width + 1) // 2, used_by="Segmentations")
        n, rows = len(costs), np.arange(len(costs))
        least = np.zeros((n, width + 1))  # of all ways to cut what is before a position
        before = np.zeros((n, width + 1), np.int64)  # where the last segment starts
        for stop in range(1, width + 1):
            first = stop * (stop - 1) // 2
            ways = least[:, :stop] + costs[:, first : first + stop]
            before[:, stop] = ways.argmin(axis=1)
            least[:, stop] = ways[rows, before[:, stop]]
        if self.constraints is None:
            stop = least.argmin(axis=1)
        else:
            stop = np.broadcast_to(self.constraints.length, n)
        values = least[rows, stop]
        return Decoded(self._marked(stop, before), values, values)

    def _marked(self, stop, before):
        """Outputs from the last stop of every row back to its first."""
        outputs, rows = np.zeros((len(stop), self._width), np.int8), np.arange(len(stop))
        while stop.any():
            open_rows = stop > 0
            outputs[rows[open_rows], stop[open_rows] - 1] = 1
            stop = before[rows, stop]  # of zero: zero
        return outputs

    # ------------------------------------------------------------------ more than a space must
    def restrict(self, *, length):
        """The segmentations of sequences of this length: one number, or one per row."""
        length = np.atleast_1d(np.asarray(length, int))
        if (length < 0).any() or (length > self._width).any():
            raise ValueError(f"Segmentations: length is from 0 to {self._width}; got {length}.")
        return self._limited(Lengths(length))

    @property
    def constraints_(self):
        return self.constraints

    def _constraints_sizes(self):
        return (self._width,)

    def enumerate(self, limit=10**6):
        if 2**self._width > limit:
            raise ValueError(f"Segmentations: there are more than {limit} of them.")
        listed = np.arange(2**self._width)[:, None] >> np.arange(self._width) & 1
        return listed[self.contains(listed)].astype(np.int8)

    def sample(self, n, rng):
        Z = np.random.default_rng(rng).integers(0, 2, (n, self._width), dtype=np.int8)
        if self.constraints is not None:
            stop = np.broadcast_to(self.constraints.length, n)[:, None]
            at = np.arange(1, self._width + 1)
            Z = np.where(at == stop, 1, Z * (at < stop)).astype(np.int8)
        return Z


class DescriptionOfSegmentations(Description):
    """Segments, each by where it starts and stops."""

    output_kind = "parts"  # reports count segments
    part_words = ("segment", "segments")

    def part_names(self):
        return self.space.segments()

    def parts_of(self, z):
        stops = self.space.restore([z])[0]
        return Parts([Part((s, t), f"{s}..{t}") for s, t in pairwise([0, *stops])])

    def canonical_range(self):
        longest = self.space.segments().max(initial=0)
        return 0, 2, longest  # of the numbers in a row, and how many there are


Description.at(Segmentations, DescriptionOfSegmentations)


def main():
    """Segment noisy series, and keep the model in a file."""
    rng = np.random.default_rng(0)
    space = Segmentations(8)
    Z = space.sample(400, rng)
    X, Y = Z + rng.normal(0, 0.35, Z.shape), space.restore(Z)
    train, test = slice(0, 300), slice(300, 400)
    lengths = [max(stops, default=0) for stops in Y[test]]
    for learner in (ConditionalRiskMinimizer(space), StructuredSVM(space, alpha=0.01)):
        model = learner.fit(X[train], Y[train])
        found = model.predict(X[test])
        told = model.predict(X[test], restrict={"length": lengths})
        right = [np.mean([a == b for a, b in zip(part, Y[test])]) for part in (found, told)]
        print(f"{type(model).__name__}: {right[0]:.0%} right, {right[1]:.0%} of known length")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "segments.skstruct"
            save_model(model, path)
            assert load_model(path).predict(X[test]) == found
    row = next(i for i, stops in enumerate(Y[test]) if len(stops) == 3)
    draw(X[test][row], Y[test][row], found[row])


def draw(series, truth, found):
    """One series, where it is cut in truth and where the last model cuts it."""
    import matplotlib.pyplot as plt  # for the picture only; the space needs none

    plt.rcParams["font.size"] = 14
    _, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    ax.bar(np.arange(1, len(series) + 1), series, color="lightsteelblue", label="seen")
    for stops, where, color, name in (
        (truth, 1.6, "black", "true"),
        (found, 1.85, "tab:blue", "found"),
    ):
        for start, stop in pairwise([0, *stops]):
            label = name if start == 0 else None
            ax.plot([start + 0.6, stop + 0.4], [where] * 2, color=color, linewidth=7, label=label)
    ax.set(xlabel="position", ylim=(min(series.min(), 0) - 0.1, 2.9))
    ax.legend(ncols=3, loc="upper center")
    plt.show()


if __name__ == "__main__":
    main()
