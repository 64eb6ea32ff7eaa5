# SPDX-License-Identifier: BSD-3-Clause
"""How many draws a leaf of a forest holds at least, chosen by out-of-bag errors."""

import copy
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.utils import check_array, check_random_state

from skstruct._arrays.checks import is_count, snap
from skstruct._arrays.progress import track
from skstruct._arrays.rows import copied_rows, has_finite_sum, narrow_indices
from skstruct.saving import check_trees, require, savable, whole_numbers
from skstruct.smoothing.base import WeightedMean
from skstruct.smoothing.facets import Weighing, WeighingOfRows
from skstruct.smoothing.folds import rank_by_content
from skstruct.smoothing.projections import few_targets

N_COMPARED = 50  # trees that each size is judged by
MOST_MEANS = 50_000_000  # numbers that leaves keep
PATIENCE = 3  # sizes in a row that are worse than the best, before larger ones are left untried


def leaf_sizes(n_draws: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, ... up to a quarter of the draws, and all of them: no split at all.

    >>> leaf_sizes(100), leaf_sizes(7)
    ([1, 2, 5, 10, 20, 100], [1, 7])
    """
    steps = [m * 10**k for k in range(len(str(n_draws))) for m in (1, 2, 5)]
    return [size for size in steps if size == 1 or 4 * size <= n_draws] + [n_draws] * (n_draws > 1)


def chosen_leaf_size(sizes: list[int], compare: Callable[..., Any]) -> tuple[int, list[Any]]:
    """The size of least error and what was grown for it; ties go to the smaller size.

    Parameters
    ----------
    sizes : list of int, increasing
    compare : callable (size) -> error, trees
    """
    best: tuple[float, int, list[Any]] = (np.inf, sizes[0], [])
    worse = 0
    for size in sizes if len(sizes) > 1 else ():
        error, trees = compare(size)
        better = error < best[0]
        best, worse = ((error, size, trees), 0) if better else (best, worse + 1)
        if worse == PATIENCE:
            break
    return best[1:]


def out_of_bag_error(
    votes: Callable[..., Any],
    free: np.ndarray,
    leaf_means: np.ndarray,
    targets: np.ndarray,
    weight: np.ndarray,
    n_estimators: int,
) -> float:
    r"""Squared error of out-of-bag means, as a forest of ``n_estimators`` trees would have it.

    The mean of few trees varies more than that of many, and the more so the smaller their
    leaves are. With b trees that have not seen a row, and s^2 the variance between these, the
    error of B trees is estimated by

    .. math:: (m - t)^2 + s^2 \left(\tfrac1B - \tfrac1b\right)

    Each target is measured in units of its variance; those that do not vary do not count.

    Parameters
    ----------
    votes : callable (n, n_trees) -> sparse (n, n_leaves)
        Votes of trees at the leaves of the rows.
    free : bool array (n, n_trees)
        Trees that have not seen the row.
    leaf_means : array (n_leaves, q)
    targets : array (n, q) or (n,)
    weight : array (n,)
    """
    T = targets.reshape(len(targets), -1)
    n_free = free.sum(axis=1)
    judged = np.flatnonzero((n_free > 1) & (weight > 0))
    scale = np.average((T - np.average(T, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    vary = scale > np.finfo(float).eps * np.abs(T).max(axis=0, initial=0.0) ** 2
    if not len(judged) or not vary.any():
        return np.inf
    V, b = votes(free / np.maximum(n_free, 1)[:, None])[judged], n_free[judged, None]
    L = leaf_means.reshape(len(leaf_means), -1)[:, vary]
    means = V @ L
    between = (V @ L**2 - means**2).clip(min=0.0) * b / (b - 1)
    errors = (means - T[np.ix_(judged, vary)]) ** 2 + between * (1.0 / n_estimators - 1.0 / b)
    return float(np.average(errors @ (1.0 / scale[vary]), weights=weight[judged]) / vary.sum())


# Averages over the training rows that share leaves of randomized trees.


TREES = {"random": "DecisionTreeRegressor", "extra": "ExtraTreeRegressor"}


@savable
class Forest(WeightedMean):
    r"""A forest of regression trees, read as weights on the training rows.

    .. math:: w_i(x) = \frac1B \sum_{b=1}^B
              \frac{c_{bi} 1[i \in \ell_b(x)]}{\sum_j c_{bj} 1[j \in \ell_b(x)]}

    with :math:`\ell_b(x)` the leaf of x in tree b and :math:`c_{bi}` how often the
    bootstrap sample of that tree drew row i. The trees are grown on all targets at once.

    ``loo`` is *out-of-bag*, not refitting: a row is predicted by the trees whose sample
    holds no row of its group. A row without such a tree is predicted by all trees, its
    group's rows taken out of the leaves; these trees were grown knowing it, so with large
    groups ``loo`` is optimistic, unless ``fit`` is told the groups and draws them as a whole.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    trees : "random" or "extra", default="random"
        Best thresholds, or random ones: :class:`sklearn.tree.ExtraTreeRegressor`.
    max_features : int, float, "sqrt", "log2" or None, default=1/3
        Features, or their share, tried at each split.
    min_samples_leaf : int or "auto", default="auto"
        Least number of draws in a leaf: rows of the tree's sample, as often as they were drawn.
        ``"auto"`` compares 1, 2, 5, 10, ... up to a quarter of the sample, and trees without
        any split, by their out-of-bag squared error, each target in units of its variance,
        with 50 trees each; it stops at the third in a row that is worse than the best.
    max_depth : int, default=None
    n_jobs : int, default=None
    random_state : int or RandomState, default=None
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.

    Attributes
    ----------
    min_samples_leaf_ : int, the one given or chosen
    estimators_ : tuple of fitted trees
    draws_ : array of shape (n_fitted, n_estimators)
        How often the sample of each tree holds each training row.
    leaf_means_ : array of shape (n_leaves, n_targets), or None
        Mean targets in the leaves of all trees, as long as these are no more than fifty million
        numbers; by shares of the rows beyond.

    Notes
    -----
    Each tree draws as many rows as there are, by probabilities proportional to the sample
    weights; as many as the weights add up to if that is more, up to ten times the rows.
    Neither the order of the rows nor writing a row three times instead of giving it
    weight three changes the samples.

    Of more than a hundred targets, trees are grown on forty random combinations: splits are as
    good, in a third of the time, and the trees keep less. Leaves have the means of all targets.

    Leaves of single rows follow their noise. Averaging over trees takes only a part of it away,
    so that noisy targets, such as rankings by taste, need larger leaves to beat a plain mean.

    Examples
    --------
    >>> import numpy as np
    >>> X, T = np.arange(20.0)[:, None], np.repeat([[1, 0], [0, 1]], 10, axis=0)
    >>> model = Forest(n_estimators=50, random_state=0).fit(X, T)
    >>> model.predict([[3.0]])
    array([[1., 0.]])
    >>> bool(np.allclose(model.weights(X) @ T, model.predict(X)))
    True
    """

    verbose = 0  # of models that were saved before there was a choice

    def __init__(
        self,
        n_estimators: int = 200,
        *,
        trees: str = "random",
        max_features: float | str | None = 1 / 3,
        min_samples_leaf: str | int = "auto",
        max_depth: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.trees = trees
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ growing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Fit to targets ``y`` of shape (n, n_targets) or (n,).

        Parameters
        ----------
        groups : array of shape (n,), default=None
            Samples draw whole groups: ``loo`` of these groups is then out of bag.
        """
        self._drawn_together = None if groups is None else np.asarray(groups)
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._drawn_together

    def _learn(self, X: Any, targets: np.ndarray, sample_weight: Any) -> None:
        if self.n_estimators < 1:
            raise ValueError(f"n_estimators must be at least 1; got {self.n_estimators!r}.")
        X = _tree_input(X)
        sample = bootstrap(X, targets, sample_weight, self._drawn_together)
        # Trees read columns, and would convert a sparse X one by one.
        columns = X.tocsc() if sparse.issparse(X) else X
        rng, grow = check_random_state(self.random_state), delayed(_grow)

        split_by = _on_grid(few_targets(targets))

        def grown(seeds: np.ndarray, least: int) -> Any:
            shown = track(seeds.tolist(), "trees", self.verbose)
            trees = (self._tree(seed, least, sample.size) for seed in shown)
            return self._parallel(grow(tree, columns, split_by, sample) for tree in trees)

        automatic = isinstance(self.min_samples_leaf, str) and self.min_samples_leaf == "auto"
        n_seeds = max(self.n_estimators, N_COMPARED) if automatic else self.n_estimators
        trees: list[Any] = []
        least: Any = self.min_samples_leaf
        seeds = rng.randint(2**31 - 1, size=n_seeds)
        if automatic:
            compare = partial(self._compared, X, split_by, partial(grown, seeds[:N_COMPARED]))
            least, trees = chosen_leaf_size(leaf_sizes(sample.size), compare)
        self.min_samples_leaf_ = least
        trees = [*trees, *grown(seeds[len(trees) :], self.min_samples_leaf_)]
        self._plant(trees[: self.n_estimators], X, targets)

    def _plant(self, grown: list[tuple[Any, np.ndarray]], X: Any, targets: np.ndarray) -> None:
        """Keep trees with their samples, and the means of the targets in their leaves."""
        self.estimators_, counts = zip(*grown)
        self._number_leaves()
        self._keep(np.column_stack(counts), self._leaves(X))
        self._fill_leaves(targets)

    def _fill_leaves(self, targets: np.ndarray) -> None:
        """Means in the leaves, unless they would be much more than the targets are."""
        n_targets = targets[0].size if len(targets) else 1
        few = self.n_leaves_ * n_targets <= MOST_MEANS
        self.leaf_means_ = self.shares_ @ targets if few else None

    def _leaf_means(self, votes: Any, targets: np.ndarray) -> Any:
        """Means by votes of shape (n, n_leaves)."""
        if self.leaf_means_ is None:
            return (votes @ self.shares_) @ targets
        return votes @ self.leaf_means_

    def _compared(
        self, X: Any, targets: np.ndarray, grown: Callable[..., Any], least: int
    ) -> tuple[float, list[tuple[Any, ...]]]:
        """Out-of-bag error with leaves of so many draws, and the trees that have it."""
        forest, trees = copy.copy(self), grown(least)
        forest._plant(trees, X, targets)
        groups = copied_rows(X, targets)
        free = forest._free(np.arange(len(targets)) if groups is None else groups)
        votes, means = partial(forest._votes, forest.leaves_), forest.shares_ @ targets
        error = out_of_bag_error(
            votes, free, means, targets, self.sample_weight_, self.n_estimators
        )
        return error, trees

    def _parallel(self, tasks: Iterable[Any]) -> Any:
        return Parallel(n_jobs=self.n_jobs, prefer="threads")(tasks)  # trees release the lock

    def _tree(self, seed: int, least: int, n_draws: int) -> Any:
        if self.trees not in TREES:
            raise ValueError(f'trees is "random" or "extra"; got {self.trees!r}.')
        if not is_count(least):
            raise ValueError(
                f'min_samples_leaf is a whole number from 1, or "auto"; got {least!r}.'
            )
        from sklearn import tree  # slow to import

        whole = 2 * least > n_draws  # no split leaves enough on both sides
        return getattr(tree, TREES[self.trees])(
            max_features=self.max_features,
            min_weight_fraction_leaf=0.0 if whole else (least - 0.5) / n_draws,
            min_samples_split=n_draws + 1 if whole else 2,
            max_depth=self.max_depth,
            random_state=seed,
        )

    def _number_leaves(self) -> None:
        """Number the leaves of all trees in one row, to be the columns of one matrix."""
        trees = [tree.tree_ for tree in self.estimators_]
        is_leaf = np.concatenate([tree.children_left == -1 for tree in trees])
        self.first_node_ = np.cumsum([0] + [tree.node_count for tree in trees[:-1]])
        self.leaf_number_ = np.cumsum(is_leaf, dtype=np.int32) - 1
        self.n_leaves_ = int(is_leaf.sum())

    def _keep(self, counts: np.ndarray, leaves: np.ndarray) -> None:
        """What prediction needs: who was drawn, who sits where, shares in each leaf."""
        self.draws_, self.leaves_ = counts, leaves
        rows, _ = drawn = np.nonzero(counts)
        size = np.bincount(leaves[drawn], counts[drawn], self.n_leaves_)
        share = counts[drawn] / size[leaves[drawn]]
        shape = self.n_leaves_, len(leaves)
        self.shares_ = sparse.csr_array((share, (leaves[drawn], rows)), shape=shape)

    def _check_saved(self) -> None:
        """Trees read inputs, and leaves are followed, without looking."""
        if not hasattr(self, "estimators_"):
            return
        check_trees(self)
        self._number_leaves()
        n, n_trees = len(self.targets_), len(self.estimators_)
        leaves = whole_numbers(self.leaves_, 0, self.n_leaves_, "leaves of a forest")
        draws = whole_numbers(self.draws_, 0, 2**31, "draws of a forest")
        require(leaves.shape == draws.shape == (n, n_trees), "a forest of other rows")
        require(self.shares_.shape == (self.n_leaves_, n), "shares of a forest of other leaves")
        filled = self.leaf_means_ is None or len(self.leaf_means_) == self.n_leaves_
        require(filled, "means of a forest of other leaves")

    def with_targets(self, targets: Any) -> Any:
        """The same trees, with other targets in their leaves."""
        other = super().with_targets(targets)
        other._fill_leaves(other.targets_)
        return other

    # ------------------------------------------------------------------ predicting
    def _leaves(self, X: Any) -> Any:
        """The number of the leaf of each row in each tree; shape (n, n_estimators)."""
        apply = (delayed(tree.apply)(X, check_input=False) for tree in self.estimators_)
        return self.leaf_number_[np.column_stack(self._parallel(apply)) + self.first_node_]

    def _votes(self, leaves: np.ndarray, votes: np.ndarray) -> Any:
        """Sparse (n, n_leaves): the votes of the trees, at the leaf each of them chose."""
        n, n_trees = leaves.shape
        starts = np.arange(0, n * n_trees + 1, n_trees)
        shape = n, self.n_leaves_
        return sparse.csr_array((np.ravel(votes), leaves.ravel(), starts), shape=shape)

    def _equal_votes(self, leaves: np.ndarray) -> Any:
        return self._votes(leaves, np.full(leaves.shape, 1.0 / leaves.shape[1]))

    def predict(self, X: Any) -> np.ndarray:
        votes = self._equal_votes(self._leaves(_new_rows(self._checked(X))))
        return self._leaf_means(votes, self.targets_)

    def weights(self, X: Any) -> Any:
        return self._equal_votes(self._leaves(_new_rows(self._checked(X)))) @ self.shares_

    # ------------------------------------------------------------------ leaving out
    def loo(self, groups: Any = None) -> np.ndarray:
        """Out-of-bag predictions for the training rows; see the class."""
        votes, removed, chosen, others = self._out_of_bag(self._group_numbers(groups))
        T = self.targets_
        return self._leaf_means(votes, T) + removed @ T + chosen @ (others @ T)

    def left_out_weights(self, groups: Any = None) -> Any:
        """Out-of-bag weights, none on a row's own group; shape (n_fitted, n_fitted)."""
        votes, removed, chosen, others = self._out_of_bag(self._group_numbers(groups))
        return votes @ self.shares_ + removed + chosen @ others

    def _free(self, groups: Any) -> Any:
        """Which trees have seen no row of the group of each row; shape (n, n_estimators)."""
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        return ~np.logical_or.reduceat(self.draws_[order] > 0, starts, axis=0)[groups]

    def _out_of_bag(self, groups: Any) -> tuple[Any, Any, Any, Any]:
        """Matrices of ``loo``; each row is nonzero in one of votes, removed and chosen.

        votes (n, n_leaves) are those of trees that saw none of the group, removed (n, n)
        the weights of all trees without the group, chosen (n, g) the row of others (g, n),
        the weights of a plain mean without the group.
        """
        n, free = len(groups), self._free(groups)
        n_free = free.sum(axis=1)
        votes = self._votes(self.leaves_, free / np.maximum(n_free, 1)[:, None])
        votes.eliminate_zeros()
        stuck = np.flatnonzero(n_free == 0)
        seen = _ones_at(stuck, stuck, (n, n)) @ self._equal_votes(self.leaves_)
        removed = _without_group(seen @ self.shares_, groups)
        bare = np.flatnonzero((n_free == 0) & (removed.sum(axis=1) == 0))
        numbers, which = np.unique(groups[bare], return_inverse=True)
        others = np.where(numbers[:, None] == groups, 0.0, self.sample_weight_)
        others = sparse.csr_array(others / others.sum(axis=1, keepdims=True))
        return votes, removed, _ones_at(bare, which, (n, len(numbers))), others


class WeighingOfForest(WeighingOfRows):
    """Trees keep the leaves of training rows, and not the rows."""

    __slots__ = ()
    rows = None


Weighing.at(Forest, WeighingOfForest)


def bootstrap(X: Any, targets: np.ndarray, weight: np.ndarray, groups: Any = None) -> Any:
    """What samples are drawn from: rows, or whole groups of them."""
    if groups is None:
        return Bootstrap(X, targets, weight)
    return GroupBootstrap(X, targets, weight, groups)


class Bootstrap:
    """Samples of the training rows that depend on what the rows hold, not on their order.

    The rows lie along [0, 1) in the order of a random projection, each as long as its
    share of the weight, and a sample is a number of points there. Equal rows lie side by
    side, so three of them are one of weight three.
    """

    def __init__(self, X: Any, targets: np.ndarray, weight: np.ndarray) -> None:
        rng, T = np.random.default_rng(0), targets.reshape(len(targets), -1)
        key = X @ rng.standard_normal(X.shape[1]) + T @ rng.standard_normal(T.shape[1])
        self.order = np.argsort(key, kind="stable")
        ends = weight[self.order].cumsum()
        self.ends = ends / ends[-1]
        n_used = np.count_nonzero(weight)
        self.size = int(np.clip(np.rint(weight.sum()), n_used, 10 * n_used))

    def counts(self, seed: int) -> np.ndarray:
        """How often a sample holds each row; shape (n,)."""
        points = np.random.RandomState(seed).random_sample(self.size)
        drawn = self.order[np.searchsorted(self.ends, points, side="right")]
        return np.bincount(drawn, minlength=len(self.order)).astype(np.int32)


class GroupBootstrap:
    """Samples of whole groups, by the mean weight of their rows; rows of no weight stay out.

    A group lies where its rows do on average, so the order of the rows has no part in it.
    """

    def __init__(self, X: Any, targets: np.ndarray, weight: np.ndarray, groups: Any) -> None:
        self.number = np.unique(groups, return_inverse=True)[1].reshape(-1)
        self.present = weight > 0
        sizes = np.maximum(np.bincount(self.number, self.present), 1)
        share = np.bincount(self.number, weight) / sizes
        keys = rank_by_content(X, targets) + 1.0
        self.order = np.argsort(np.bincount(self.number, keys) / np.bincount(self.number))
        ends = share[self.order].cumsum()
        self.ends = ends / ends[-1]
        self.size = int(np.count_nonzero(weight))  # about so many rows are drawn

    def counts(self, seed: int) -> np.ndarray:
        """How often a sample holds each row; shape (n,)."""
        points = np.random.RandomState(seed).random_sample(len(self.order))
        drawn = self.order[np.searchsorted(self.ends, points, side="right")]
        times = np.bincount(drawn, minlength=len(self.order))[self.number]
        return np.where(self.present, times, 0).astype(np.int32)


def _grow(tree: Any, X: Any, targets: np.ndarray, sample: Any) -> tuple[Any, np.ndarray]:
    counts = sample.counts(tree.random_state)
    tree.fit(X, targets, sample_weight=counts.astype(np.float64), check_input=False)
    return tree, counts


def _on_grid(targets: Any) -> Any:
    """Targets of shape (n, q) or (n,), rounded to 1e-9 of the largest of each column.

    Trees take any split that is better by a bit: last bits of targets must not decide.
    """
    if sparse.issparse(targets) or targets.dtype.kind != "f":
        return targets
    columns = np.array(np.atleast_2d(targets.T), dtype=np.float64, order="C")
    snapped = snap(columns, np.abs(columns).max(axis=1, initial=0.0))
    return np.ascontiguousarray(snapped.T).reshape(targets.shape)  # or each tree copies them


def _new_rows(X: Any) -> Any:
    """X as trees read it; numbers beyond single precision lie beyond every threshold."""
    largest = np.finfo(np.float32).max
    if not sparse.issparse(X):
        return _tree_input(np.clip(X, -largest, largest))
    X = X.copy()
    np.clip(X.data, -largest, largest, out=X.data)
    return _tree_input(X)


def _tree_input(X: Any) -> Any:
    """X as trees read it: float32, and 32-bit indices when sparse."""
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind == "f":
        with np.errstate(over="ignore"):
            narrow = np.ascontiguousarray(X, dtype=np.float32)
        if has_finite_sum(narrow):  # else it is told what is wrong, or that nothing is
            return narrow
    return narrow_indices(check_array(X, accept_sparse="csr", dtype=np.float32))


def _ones_at(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Any:
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _without_group(W: Any, groups: Any) -> Any:
    """Weights without those on a row's own group, summing to one where any are left."""
    W = W.tocoo()
    other = groups[W.row] != groups[W.col]
    rows, columns, values = W.row[other], W.col[other], W.data[other]
    totals = np.bincount(rows, values, W.shape[0])
    return sparse.csr_array((values / totals[rows], (rows, columns)), shape=W.shape)
