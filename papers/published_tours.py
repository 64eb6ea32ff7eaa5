# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Chen, Ong and Xie, "Learning points and routes to recommend trajectories" (2016).

F1 of places and pairs-F1, means over the tours of three places and more, as in the LaTeX source
of the paper (file tour/cikm16/table_perfsummary.tex of the repository chengsoonong/digbeta at
commit 0ecf569); the printed pages were not at hand. PersTour is given the time that the tour
took, all others the number of its places.
"""

CITIES = ("Edin", "Glas", "Melb", "Osak", "Toro")
F1 = {
    "Random": (0.570, 0.632, 0.559, 0.621, 0.621),
    "PersTour": (0.656, 0.802, 0.484, 0.702, 0.720),
    "PersTour-L": (0.651, 0.660, 0.577, 0.691, 0.642),
    "PoiPopularity": (0.701, 0.745, 0.621, 0.661, 0.679),
    "PoiRank": (0.701, 0.767, 0.636, 0.755, 0.755),
    "Markov": (0.644, 0.723, 0.582, 0.697, 0.670),
    "MarkovPath": (0.678, 0.731, 0.596, 0.706, 0.688),
    "Rank+Markov": (0.662, 0.745, 0.606, 0.706, 0.712),
    "Rank+MarkovPath": (0.695, 0.755, 0.625, 0.724, 0.736),
}
PAIRS_F1 = {
    "Random": (0.261, 0.320, 0.249, 0.305, 0.311),
    "PersTour": (0.417, 0.646, 0.216, 0.491, 0.503),
    "PersTour-L": (0.359, 0.352, 0.267, 0.415, 0.331),
    "PoiPopularity": (0.436, 0.509, 0.317, 0.363, 0.385),
    "PoiRank": (0.434, 0.546, 0.338, 0.527, 0.520),
    "Markov": (0.415, 0.490, 0.297, 0.448, 0.408),
    "MarkovPath": (0.400, 0.484, 0.295, 0.445, 0.405),
    "Rank+Markov": (0.450, 0.532, 0.334, 0.469, 0.484),
    "Rank+MarkovPath": (0.426, 0.523, 0.328, 0.477, 0.488),
}
