# SPDX-License-Identifier: BSD-3-Clause
"""What model files are charged for tables of all pairs of names, against what is taken."""

import pytest

from skstruct import spaces as S
from skstruct.spaces import Description
from work import peak_bytes

N = 300
PAIRED = {
    "cycles": lambda n: S.Cycles(range(n)),
    "undirected cycles": lambda n: S.Cycles(range(n), directed=False),
    "graphs": lambda n: S.Graphs(range(n), directed=True),
    "matchings": lambda n: S.Matchings(range(n)),
    "spanning trees": lambda n: S.SpanningTrees(range(n)),
    "partial orders": lambda n: S.PartialOrders(range(n)),
    "tournaments": lambda n: S.Tournaments(range(n)),
    "assignments": lambda n: S.Assignments(n),
    "more tasks": lambda n: S.Assignments(n, 2 * n),
}


def used(space):
    """As it is when a file with it has been read."""
    Description.of(space).canonical_range()
    space._check_saved()


@pytest.mark.parametrize("name", PAIRED)
def test_no_more_is_taken_than_is_charged(name):
    used(PAIRED[name](6))  # what is imported and kept once
    space = PAIRED[name](N)
    charged = type(space)._bytes_when_used(vars(space))
    assert peak_bytes(lambda: used(space)) <= charged + 100_000
    assert charged <= 150 * 2 * N**2  # or sound files are refused


def test_a_graph_says_which_pairs_there_are_where_one_is_taken():
    path = [(0, 1), (1, 2)]
    assert S.Matchings._bytes_when_used({"nodes": 3000, "graph": path}) == 0
    assert S.Cycles._bytes_when_used({"nodes": 3000, "graph": path}) > 10**8
    assert S.PairwiseStates._bytes_when_used({"states": 3000, "graph": path}) > 10**8
