# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets of least cost in acyclic graphs where all parents of a node cost something together.

To minimize a linear cost of nodes and of products over their parents is NP-hard with signed
costs [1]_. Min-cuts fix most nodes of most rows, and branch and bound with cuts the others; see
``_numba_closed_products`` for the inequalities.

References
----------
.. [1] Fixing nodes by relaxations of a sum of a submodular and a supermodular function is
   persistency: E. Boros and P. L. Hammer, "Pseudo-Boolean optimization", 2002.
"""

import numpy as np

from skstruct.spaces.solvers.dags import Dag, dag_closed_sets
from skstruct.tolerances import ROUNDING_GAP


class ProductDag:
    """An acyclic graph with the product over its parents for every node of two and more.

    Parameters
    ----------
    dag : Dag

    Attributes
    ----------
    labels : array of shape (n_products,)
        The nodes that have a product, in ascending order.
    owner, parents : arrays of shape (n_arcs,)
        Product and parent, for each parent of each product, by product.
    first : array of shape (n_products + 1,)
        Where the parents of each product begin.
    extended : Dag
        Products are nodes n_nodes, n_nodes + 1, ..., each below its parents.
    """

    def __init__(self, dag: Dag) -> None:
        self.n_nodes = dag.n_nodes
        self.labels = np.flatnonzero(dag.n_parents > 1)
        shared = (dag.n_parents > 1)[dag.children]  # arcs are sorted by child
        self.owner = np.searchsorted(self.labels, dag.children[shared])
        self.parents = np.ascontiguousarray(dag.parents[shared])
        self.first = np.searchsorted(self.owner, np.arange(len(self.labels) + 1))
        parents = np.append(dag.parents, self.parents)
        children = np.append(dag.children, dag.n_nodes + self.owner)
        self.extended = Dag(dag.n_nodes + len(self.labels), parents, children)

    def products(self, Z: np.ndarray) -> np.ndarray:
        """Whether all parents are in, for each product; (n, n_products)."""
        if not len(self.labels):
            return np.zeros((len(Z), 0))
        return np.minimum.reduceat(Z[:, self.parents], self.first[:-1], axis=1)

    def closed_sets(
        self, costs: np.ndarray, low: np.ndarray, high: np.ndarray, most: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The best closed set found for every row, its cost, and a lower bound on any cost.

        Parameters
        ----------
        costs : array of shape (n, n_nodes + n_products)
        low, high : bool arrays of shape (n or 1, n_nodes)
            Nodes that are in, with all above them, and that may be in: all below others may not.
        most : int
            Branchings of one row. With none, cuts alone are made.

        Returns
        -------
        outputs : int8 array of shape (n, n_nodes)
        values, bounds : arrays of shape (n,)
            Equal where a set is the best, but for rounding.
        """
        d, costs = self.n_nodes, np.ascontiguousarray(costs, dtype=np.float64)
        cut = costs.copy()
        np.minimum(cut[:, d:], 0.0, out=cut[:, d:])  # without positive products
        if low.any() or not high.all():
            # What is in costs nothing, and what is out gains nothing.
            cut[:, :d][np.broadcast_to(low | ~high, (len(cut), d))] = 0.0
            cut[:, d:][np.broadcast_to(self.products(high) == 0, (len(cut), len(self.labels)))] = (
                0.0
            )
        taken, values, bounds = dag_closed_sets(cut, self.extended)
        taken[:, :d] |= low
        errors, outputs = values - bounds, taken[:, :d].astype(np.int8)
        whole = self.products(outputs)
        values = (costs[:, :d] * outputs).sum(axis=1) + (costs[:, d:] * whole).sum(axis=1)
        gap = ROUNDING_GAP * np.abs(costs).sum(axis=1)
        bounds = np.where(errors <= gap, values, values - errors)
        # Without a positive product within it, the set of the cut is the best.
        searched = np.flatnonzero((whole * costs[:, d:] > 0).any(axis=1))
        if len(searched):
            known = low[searched] if len(low) > 1 else low
            given = costs[searched], taken[searched], known, errors[searched]
            found = self._searched([np.ascontiguousarray(array) for array in given], most)
            outputs[searched], values[searched], bounds[searched] = found
        return outputs, values, bounds

    def _searched(
        self, rows: list[np.ndarray], most: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same for rows whose costs, cuts, nodes that are in, and errors these are."""
        from skstruct.spaces.indicator_sets._numba_closed_products import closed_product_sets

        arrays = self.extended.order, self.extended.position, *self.extended.arc_arrays[:2]
        products = self.first, self.parents, self.labels
        found: tuple[np.ndarray, np.ndarray, np.ndarray]
        found = closed_product_sets(*rows, *arrays, *products, most)
        return found
