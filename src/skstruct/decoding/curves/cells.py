# SPDX-License-Identifier: BSD-3-Clause
"""Cells of the line on which a smooth function is bounded from below."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np


@dataclass
class Cells:
    """Intervals [left, right] with values and slopes at both ends, one entry per cell.

    ``bend`` is a lower bound of F'' on the cell, so that F - bend t^2 / 2 is convex there
    and lies above its tangents at both ends.
    """

    owner: np.ndarray  # the row whose curve it is
    left: np.ndarray
    right: np.ndarray
    left_value: np.ndarray
    right_value: np.ndarray
    left_slope: np.ndarray
    right_slope: np.ndarray
    bend: np.ndarray

    def __len__(self):
        return len(self.owner)

    def take(self, index):
        return Cells(*(getattr(self, field.name)[index] for field in fields(self)))

    def bounds(self):
        """min over each cell of the larger of the two lower parabolas

            F(left) + F'(left) (t - left) + bend (t - left)^2 / 2    and its mirror image.

        Their difference is linear in t: left of where they meet the first is larger,
        right of it the second.
        """
        h = self.right - self.left
        near, far, bend = self.left_slope, -self.right_slope, self.bend
        # With x = t - left: first - second = gap + x (near + far + bend h).
        gap = self.left_value - self.right_value - far * h - 0.5 * bend * h * h
        steep = -(near + far + bend * h)  # >= 0 up to rounding: a convex function's slopes grow
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            meet = gap / steep
        meet = np.where(steep > 0, np.clip(np.where(np.isnan(meet), 0, meet), 0, h), 0.5 * h)
        first = _lowest(self.left_value, near, bend, meet)
        second = _lowest(self.right_value, far, bend, h - meet)
        return np.minimum(first, second)

    def split(self, at, value, slope):
        """Two cells out of each; they inherit the bound of the second derivative."""
        left = replace(self, right=at, right_value=value, right_slope=slope)
        right = replace(self, left=at, left_value=value, left_slope=slope)
        return joined([left, right])

    def bottoms(self):
        """Where the cubic with the cell's values and slopes is lowest inside; else the middle."""
        h = self.right - self.left
        middle = 0.5 * (self.left + self.right)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            z = self.left_slope + self.right_slope
            z -= 3 * (self.right_value - self.left_value) / h
            root = np.sqrt(z * z - self.left_slope * self.right_slope)
            share = (self.right_slope + root - z) / (self.right_slope - self.left_slope + 2 * root)
        inside = (share > 0) & (share < 1)  # False for NaN
        return np.where(inside, self.right - h * np.where(inside, share, 0.5), middle)

    def next_bottoms(self, at, slope):
        """One step of Newton's method from ``at``, with F'' from the slopes at three points."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            to_left = (slope - self.left_slope) / (at - self.left)
            to_right = (self.right_slope - slope) / (self.right - at)
            across = (self.right_slope - self.left_slope) / (self.right - self.left)
            moved = at - slope / (to_left + to_right - across)
        inside = (moved > self.left) & (moved < self.right)
        return np.where(inside, moved, at)


def joined(parts):
    """All cells of several lists of cells."""
    columns = zip(*([getattr(part, field.name) for field in fields(Cells)] for part in parts))
    return Cells(*(np.concatenate(column) for column in columns))


def _lowest(value, slope, bend, length):
    """min over x in [0, length] of value + slope x + bend x^2 / 2."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bottom = -slope / bend
    x = np.where((bend > 0) & (slope < 0), np.minimum(np.where(bend > 0, bottom, 0), length), 0.0)
    inner = value + x * (slope + 0.5 * bend * x)
    end = value + length * (slope + 0.5 * bend * length)
    return np.minimum(inner, end)
