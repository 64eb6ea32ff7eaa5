# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/images/road_network.png: the way through a town, by hour and weather.

Roads are coloured by the minutes that they are expected to take beyond those of a calm hour; the
route is the one of least expected time.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import make_travel_times
from skstruct.spaces import ShortestPaths

HOME, WORK = (1, 3), (6, 3)
HOURS = [
    ("six in the morning", (6.0, 0.0, 0), {}),
    ("eight in the morning", (8.0, 0.0, 0), {}),
    ("noon, market day", (12.0, 0.0, 1), {}),
    ("noon, heavy rain, bridge closed", (12.0, 6.0, 0), {"exclude": [((3, 2), (4, 2))]}),
]


def main():
    data = make_travel_times(600, random_state=0)
    model = ConditionalRiskMinimizer(
        ShortestPaths(data.graph, HOME, WORK), "regret", random_state=0
    )
    model.fit(data.X, data.times)
    calm = model.predict_costs(pd.DataFrame([(21.0, 0.0, 0)], columns=data.X.columns)).to_numpy()[0]
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for axis, (title, hour, closed) in zip(axes.flat, HOURS):
        X = pd.DataFrame([hour], columns=data.X.columns)
        beyond = model.predict_costs(X).to_numpy()[0] - calm
        (route,) = model.predict(X, restrict=closed)
        minutes = model.predict_risk(X, loss="cost", restrict=closed)[0]
        shades = draw(axis, data.graph, beyond, route, closed.get("exclude", ()))
        axis.set_title(f"{title}: {minutes:.0f} minutes")
    figure.colorbar(shades, ax=axes, label="minutes beyond those of a calm evening", shrink=0.7)
    figure.savefig(Path(__file__).parents[1] / "images" / "road_network.png", dpi=110)


def draw(axis, graph, beyond, route, closed):
    at = {node: np.array(graph.nodes[node]["pos"]) for node in graph}
    river = np.linspace(-0.4, 5.4, 50)
    axis.plot(3.5 + 0.15 * np.sin(1.3 * river), river, color="#b8d8ee", linewidth=14, zorder=0)
    roads = [aside(at[u], at[v]) for u, v in graph.edges]
    shades = matplotlib.collections.LineCollection(
        roads, array=beyond, cmap="YlOrRd", clim=(0, 6), linewidths=2.2, zorder=1
    )
    axis.add_collection(shades)
    way = np.array([at[node] for node in route])
    axis.plot(*way.T, color="#1f4e79", linewidth=5, alpha=0.8, zorder=2, solid_joinstyle="round")
    for u, v in closed:
        axis.plot(*((at[u] + at[v]) / 2), "x", color="black", markersize=12, markeredgewidth=3)
    for node, name in ((HOME, "home"), (WORK, "work")):
        axis.plot(*at[node], "o", color="#1f4e79", markersize=9, zorder=3)
        axis.annotate(
            name, at[node], (0, 9), textcoords="offset points", ha="center", weight="bold"
        )
    axis.set_aspect("equal")
    axis.axis("off")
    return shades


def aside(start, end):
    """A road on the right-hand side of the line between two crossings."""
    way = (end - start) / np.hypot(*(end - start))
    shift = 0.06 * np.array([way[1], -way[0]])
    return np.array([start + shift, end + shift])


if __name__ == "__main__":
    main()
