# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Meshi, Eban, Elidan and Globerson (2013), "Learning max-margin tree predictors".

PAPER: Table 1, accuracies in percent (Hamming, 0/1, F1 averaged over samples) on test data;
PAPER_TIMES: Table 2, training and test times on Yeast relative to Full. Greedy was too slow to
run on Yeast.
"""

PAPER = {
    "scene": {
        "CRANK": (90.5, 58.9, 64.8), "Full": (90.7, 62.2, 67.8), "Greedy": (90.2, 56.9, 62.6),
        "Project": (89.5, 52.1, 59.2), "MST": (89.9, 53.0, 59.6), "Empty": (89.3, 49.5, 56.5),
    },
    "emotions": {
        "CRANK": (79.2, 29.2, 60.5), "Full": (79.0, 33.7, 62.5), "Greedy": (78.5, 24.3, 54.5),
        "Project": (77.6, 20.8, 49.8), "MST": (79.1, 28.2, 57.5), "Empty": (76.7, 20.3, 48.5),
    },
    "medical": {
        "CRANK": (96.9, 74.0, 78.2), "Full": (96.9, 75.0, 78.3), "Greedy": (96.9, 74.0, 78.3),
        "Project": (96.7, 72.7, 77.0), "MST": (96.7, 71.9, 77.5), "Empty": (96.4, 71.0, 76.1),
    },
    "yeast": {
        "CRANK": (80.1, 17.6, 60.4), "Full": (80.2, 19.0, 60.9), "Project": (80.1, 16.4, 60.7),
        "MST": (80.1, 16.1, 60.3), "Empty": (79.8, 12.1, 58.0),
    },
}  # fmt: skip
PAPER_TIMES = {"CRANK": (1.82, 0.02), "Full": (1.0, 1.0), "Project": (0.17, 0.06),
               "MST": (1.32, 0.02), "Empty": (0.01, 0.02)}  # fmt: skip
